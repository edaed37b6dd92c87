//! A scripted model server and a way to run the lab agent against it.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
};

use serde_json::{Value, json};

/// What the server answers to one request of the model.
pub(crate) enum Answer {
    /// A whole stream with these items.
    Items(Vec<Value>),
    /// These bytes as the stream, and then the end of the connection.
    Raw(String),
    /// An error before any stream.
    Status { code: u16, headers: &'static str, body: &'static str },
    /// A whole stream, once the other end of the channel lets it go.
    Gated(mpsc::Receiver<()>, Vec<Value>),
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: String,
    pub(crate) body: Value,
    pub(crate) raw: Vec<u8>,
}

/// A server on loopback that answers from a list.
pub(crate) struct Server {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    arrivals: Mutex<mpsc::Receiver<()>>,
    left: Arc<Mutex<VecDeque<Answer>>>,
}

impl Server {
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let left = Arc::new(Mutex::new(VecDeque::from(answers)));
        let (arrived, arrivals) = mpsc::channel();
        let shared = (Arc::clone(&received), Arc::clone(&left));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = (Arc::clone(&shared.0), Arc::clone(&shared.1));
                let arrived = arrived.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &shared.0, &shared.1, &arrived));
            }
        });
        Self { port, received, arrivals: Mutex::new(arrivals), left }
    }

    /// Waits for one more request to have arrived and taken its answer from the list.
    pub(crate) fn wait_for_request(&self) {
        self.arrivals.lock().unwrap().recv().unwrap();
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Every request so far, in order.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The bodies of the model requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let all = self.received().into_iter();
        all.filter(|request| request.path == "/v1/responses").map(|request| request.body).collect()
    }

    /// How many answers nobody asked for.
    pub(crate) fn unused(&self) -> usize {
        self.left.lock().unwrap().len()
    }
}

fn serve(
    stream: TcpStream,
    received: &Mutex<Vec<Received>>,
    left: &Mutex<VecDeque<Answer>>,
    arrived: &mpsc::Sender<()>,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
        })
        .map_or(0, |length| length.parse().unwrap());
    let mut raw = vec![0; length];
    reader.read_exact(&mut raw).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let is_model = path == "/v1/responses";
    let body = serde_json::from_slice(&raw).unwrap();
    received.lock().unwrap().push(Received { path, headers: head, body, raw });
    let answer = if is_model {
        left.lock().unwrap().pop_front().unwrap_or(Answer::Status {
            code: 418,
            headers: "",
            body: "nothing is scripted for this request",
        })
    } else {
        Answer::Status { code: 204, headers: "", body: "" }
    };
    // A test that is over has stopped counting.
    let _over = arrived.send(());
    write_answer(stream, answer);
}

fn write_answer(mut stream: TcpStream, answer: Answer) {
    let text = match answer {
        Answer::Items(items) => ok(&events(&items)),
        Answer::Raw(text) => ok(&text),
        Answer::Status { code, headers, body } => format!(
            "HTTP/1.1 {code} scripted\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ),
        Answer::Gated(gate, items) => {
            // An agent that has gone away leaves the gate closed.
            if gate.recv().is_err() {
                return;
            }
            ok(&events(&items))
        }
    };
    // The agent may have been told to stop listening.
    let _gone = stream.write_all(text.as_bytes());
}

fn ok(stream: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{stream}"
    )
}

/// The events of a whole stream with these items.
pub(crate) fn events(items: &[Value]) -> String {
    let mut text = event(&json!({ "type": "response.created", "response": { "id": "resp_1" } }));
    for (index, item) in items.iter().enumerate() {
        let done =
            json!({ "type": "response.output_item.done", "output_index": index, "item": item });
        text.push_str(&event(&done));
    }
    text.push_str(&event(&json!({ "type": "response.completed", "response": { "id": "resp_1" } })));
    text
}

/// One event as the wire has it.
pub(crate) fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

pub(crate) fn message(text: &str) -> Value {
    json!({
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

pub(crate) fn call(call_id: &str, name: &str, arguments: &Value) -> Value {
    json!({
        "type": "function_call",
        "id": format!("fc_{call_id}"),
        "call_id": call_id,
        "name": name,
        "arguments": arguments.to_string(),
        "status": "completed",
    })
}

pub(crate) fn say(text: &str) -> Answer {
    Answer::Items(vec![message(text)])
}

pub(crate) fn calls(calls: Vec<Value>) -> Answer {
    Answer::Items(calls)
}

pub(crate) fn shell(call_id: &str, command: &str) -> Value {
    call(call_id, "shell", &json!({ "command": command }))
}

/// `base/work` is the working folder, `base/home` the home.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work")).unwrap();
        std::fs::create_dir_all(folder.path().join("home")).unwrap();
        Self { folder }
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.base().join("work")
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.work().join(name).symlink_metadata().is_ok()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }
}

/// The agent's command line in a folder, with an environment of its own.
pub(crate) fn agent(folder: &Folder, server: &Server, policy: &str, more: &[&str]) -> Command {
    agent_in(&folder.work(), folder, server, policy, more)
}

pub(crate) fn agent_in(
    cwd: &Path,
    folder: &Folder,
    server: &Server,
    policy: &str,
    more: &[&str],
) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab-agent"));
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder.base().join("home"))
        .env("LAB_API_KEY", "test-key")
        .current_dir(cwd)
        .args(["--base-url", &server.base_url(), "--model", "m", "--policy", policy])
        .args(more);
    command
}

/// The end of an exec run.
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) events: Vec<Value>,
}

impl Ended {
    pub(crate) fn of(&self, event_type: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == event_type).collect()
    }
}

/// Runs a command to its end and reads its events.
pub(crate) fn run(mut command: Command) -> Ended {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let events = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    Ended { status: output.status.code().unwrap(), events }
}

/// A running dialogue. Dropping it ends the agent.
pub(crate) struct Dialogue {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
    pub(crate) events: Vec<Value>,
}

impl Dialogue {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child =
            command.arg("--dialogue").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, events: Vec::new() }
    }

    pub(crate) fn send(&mut self, line: &Value) {
        self.send_text(&line.to_string());
    }

    pub(crate) fn send_text(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.send(&json!({ "type": "prompt", "text": text }));
    }

    pub(crate) fn decide(&mut self, id: &Value, decision: &str) {
        self.send(&json!({ "type": "approval", "id": id, "decision": decision }));
    }

    /// Reads events until one has this type, and gives it.
    pub(crate) fn until(&mut self, event_type: &str) -> Value {
        loop {
            let event =
                self.next().unwrap_or_else(|| panic!("no {event_type} in {:#?}", self.events));
            if event["type"] == event_type {
                return event;
            }
        }
    }

    /// Closes the dialogue and gives the exit status.
    pub(crate) fn close(&mut self) -> i32 {
        drop(self.input.take());
        while self.next().is_some() {}
        self.child.wait().unwrap().code().unwrap()
    }

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let event: Value = serde_json::from_str(&line).unwrap();
        self.events.push(event.clone());
        Some(event)
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Items of one type in the input of a request.
pub(crate) fn items<'a>(request: &'a Value, item_type: &str) -> Vec<&'a Value> {
    let input = request["input"].as_array().unwrap().iter();
    input.filter(|item| item["type"] == item_type).collect()
}

/// The output of the call with this id, if the request holds one.
pub(crate) fn output<'a>(request: &'a Value, call_id: &str) -> Option<&'a str> {
    let outputs = items(request, "function_call_output").into_iter();
    let mut outputs = outputs.filter(|item| item["call_id"] == call_id);
    outputs.next().map(|item| item["output"].as_str().unwrap())
}

/// The texts of all messages with this role, in order.
pub(crate) fn said<'a>(request: &'a Value, role: &str) -> Vec<&'a str> {
    let messages = items(request, "message").into_iter().filter(|item| item["role"] == role);
    messages.map(|item| item["content"][0]["text"].as_str().unwrap()).collect()
}

/// Whether every call has exactly one result with its id, and every result its call.
pub(crate) fn paired(request: &Value) -> bool {
    let ids = |item_type| {
        let mut ids: Vec<String> =
            items(request, item_type).iter().map(|item| item["call_id"].to_string()).collect();
        ids.sort();
        ids
    };
    let (called, answered) = (ids("function_call"), ids("function_call_output"));
    let mut unique = called.clone();
    unique.dedup();
    called == answered && called == unique
}
