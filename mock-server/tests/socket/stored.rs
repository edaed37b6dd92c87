//! Responses of a connection that are asked for again, continued and deleted from elsewhere.

use reqwest::{Client, Response};
use serde_json::{Value, json};

use crate::support::{create, effective_input, models, open, said, start, user};
use conform_mock_server::server::MockServer;

async fn get(server: &MockServer, path: &str) -> Response {
    let url = format!("{}/responses/{path}", server.base_url());
    Client::new().get(url).send().await.unwrap()
}

async fn delete(server: &MockServer, id: &str) -> u16 {
    let url = format!("{}/responses/{id}", server.base_url());
    Client::new().delete(url).send().await.unwrap().status().as_u16()
}

async fn post(server: &MockServer, body: &Value) -> Response {
    let url = format!("{}/responses", server.base_url());
    Client::new().post(url).json(body).send().await.unwrap()
}

#[tokio::test]
async fn what_a_connection_gave_is_read_over_http() {
    let server = start("turns: [{say: a}]").await;
    let mut socket = open(&server).await;
    let warm = socket.response(&json!({"store": true, "generate": false})).await;
    let a = socket.response(&json!({"store": true})).await;
    for response in [warm, a] {
        let id = response["id"].as_str().unwrap();
        assert_eq!(get(&server, id).await.json::<Value>().await.unwrap(), response);
        let items: Value = get(&server, &format!("{id}/input_items")).await.json().await.unwrap();
        assert_eq!(items["data"][0]["content"][0]["text"], "Hello", "{items}");
    }
    server.assert_finished();
}

#[tokio::test]
async fn what_is_not_stored_stays_with_its_connection() {
    let server = start("turns: [{say: a}, {say: b}]").await;
    let mut socket = open(&server).await;
    let a = socket.response(&json!({"store": false})).await;
    let id = a["id"].as_str().unwrap();
    assert_eq!(get(&server, id).await.status(), 404);
    assert_eq!(delete(&server, id).await, 404);
    let more = json!({"previous_response_id": id, "input": "More"});
    let error = open(&server).await.error(&more).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    let body = json!({"model": "m", "previous_response_id": id, "input": "More"});
    assert_eq!(post(&server, &body).await.status(), 400);
    assert_eq!(said(&socket.response(&more).await), "b");
}

#[tokio::test]
async fn what_is_deleted_can_be_continued_nowhere() {
    let server = start("turns: [{say: a}, {say: b}, {say: c}]").await;
    let mut own = open(&server).await;
    let a = own.response(&json!({"store": true})).await;
    let id = a["id"].as_str().unwrap();
    let more = json!({"previous_response_id": id, "input": "More", "store": true});
    // Before that, it can be continued on another connection.
    let b = open(&server).await.response(&more).await;
    assert_eq!(delete(&server, id).await, 200);
    assert_eq!((delete(&server, id).await, get(&server, id).await.status().as_u16()), (404, 404));
    for socket in [&mut own, &mut open(&server).await] {
        let error = socket.error(&more).await;
        assert_eq!(error["error"]["code"], "previous_response_not_found", "{error}");
        assert_eq!(error["status"], 400);
    }
    let body = json!({"model": "m", "previous_response_id": id, "input": "More"});
    let refused = post(&server, &body).await;
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["code"], "previous_response_not_found", "{refused}");
    // What came after it stands, with its whole history.
    let after = json!({"previous_response_id": b["id"], "input": "Still more"});
    assert_eq!(said(&own.response(&after).await), "c");
    let history = effective_input(models(&server).last().unwrap());
    assert_eq!(history[0], user("Hello"));
    assert!(server.unused_turns().is_empty());
}

#[tokio::test]
async fn what_http_gave_is_continued_on_a_connection_until_it_is_deleted() {
    let server = start("turns: [{say: a}, {say: b}]").await;
    let mut body = create(&json!({"store": true}));
    body.as_object_mut().unwrap().remove("type");
    let a: Value = post(&server, &body).await.json().await.unwrap();
    let more = json!({"previous_response_id": a["id"], "input": "More"});
    assert_eq!(said(&open(&server).await.response(&more).await), "b");
    assert_eq!(delete(&server, a["id"].as_str().unwrap()).await, 200);
    let error = open(&server).await.error(&more).await;
    assert_eq!(error["error"]["code"], "previous_response_not_found");
}

#[tokio::test]
async fn a_stored_warm_up_is_continued_over_http() {
    let server = start("turns: [{say: a}]").await;
    let warm = open(&server).await.response(&json!({"store": true, "generate": false})).await;
    let body = json!({"model": "m", "previous_response_id": warm["id"], "input": "More"});
    let answer: Value = post(&server, &body).await.json().await.unwrap();
    assert_eq!(said(&answer), "a");
    let history = effective_input(models(&server).last().unwrap());
    assert_eq!(history, [user("Hello"), user("More")]);
}
