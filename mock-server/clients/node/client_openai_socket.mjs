// The OpenAI library for Node.js: Responses over a WebSocket.

import assert from "node:assert/strict";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import {
  CITY, CUT, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, failure, isCut, run, weather,
} from "./checks.mjs";

const ENDS = ["response.completed", "response.incomplete", "response.failed", "error"];

/** A connection, asked one thing after another. */
class Connection {
  static async open(url) {
    const connection = new Connection();
    connection.api = new ResponsesWS(new OpenAI({ baseURL: `${url}/v1` }));
    connection.events = [];
    connection.api.on("event", (event) => {
      connection.events.push(event);
      if (ENDS.includes(event.type)) connection.done.resolve();
    });
    // An error frame is an event too; without a listener the library throws it at the process.
    connection.api.on("error", (error) => {
      if (!error.error) connection.done?.reject(error);
    });
    connection.api.socket.on("close", (code, reason) => {
      connection.done?.reject(new Error(`closed: ${code} ${reason}`));
    });
    await new Promise((resolve, reject) => {
      connection.api.socket.once("open", resolve);
      connection.api.socket.once("error", reject);
    });
    return connection;
  }

  /** The events of one answer. */
  async answer(request) {
    this.events.length = 0;
    const answered = new Promise((resolve, reject) => (this.done = { resolve, reject }));
    this.api.send({ type: "response.create", model: MODEL, store: false, ...request });
    await answered;
    return [...this.events];
  }

  async response(request) {
    const last = (await this.answer(request)).at(-1);
    assert.equal(last.type, "response.completed");
    return last.response;
  }

  async text(request) {
    return (await this.response(request)).output[0].content[0].text;
  }

  close() {
    this.api.close();
  }
}

const HELLO = { input: "Hello" };

async function text(url) {
  const connection = await Connection.open(url);
  // The library offers compression, so the checks are made with it.
  assert.equal(connection.api.socket.extensions, "permessage-deflate");
  assert.equal(await connection.text(HELLO), TEXT);
  connection.close();
}

async function stream(url) {
  const connection = await Connection.open(url);
  const events = await connection.answer(HELLO);
  assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()]);
  const deltas = events.filter((event) => event.type === "response.output_text.delta");
  assert.equal(deltas.map((event) => event.delta).join(""), STREAMED);
  connection.close();
}

async function tools(url) {
  const tools = [{ type: "function", name: "get_weather", parameters: CITY, strict: true }];
  const connection = await Connection.open(url);
  const first = await connection.response({ input: "How is the weather?", tools });
  const calls = first.output.filter((item) => item.type === "function_call");
  const input = calls.map(({ call_id, arguments: text }) => {
    return { type: "function_call_output", call_id, output: weather(JSON.parse(text)) };
  });
  // The connection remembers the rest.
  assert.equal(await connection.text({ previous_response_id: first.id, input, tools }), TOOLS_DONE);
  connection.close();
}

async function error(url) {
  const connection = await Connection.open(url);
  const { type, status, error } = (await connection.answer(HELLO)).at(-1);
  assert.deepEqual([type, status], ["error", 400]);
  assert.deepEqual([error.type, error.code], ["invalid_request_error", "unsupported_value"]);
  assert.equal(error.message, ERROR);
  assert.equal(await connection.text(HELLO), RETRIED);
  connection.close();
}

async function lost(url) {
  const connection = await Connection.open(url);
  const request = { input: "Go on.", previous_response_id: "resp_unknown" };
  const { status, error } = (await connection.answer(request)).at(-1);
  assert.deepEqual([status, error.code], [400, "previous_response_not_found"]);
  assert.equal(await connection.text(HELLO), RETRIED);
  connection.close();
}

async function cut(url) {
  const connection = await Connection.open(url);
  const closed = await failure(() => connection.answer(HELLO));
  assert.match(closed.message, /1011 restart/);
  const deltas = connection.events.filter((event) => event.type === "response.output_text.delta");
  isCut(deltas.map((event) => event.delta).join(""));
  const next = await Connection.open(url);
  assert.equal(await next.text(HELLO), CUT);
  next.close();
}

await run({
  "socket.text": text,
  "socket.stream": stream,
  "socket.tools": tools,
  "socket.error": error,
  "socket.lost": lost,
  "socket.cut": cut,
});
