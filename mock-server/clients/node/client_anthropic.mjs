// The Anthropic library for Node.js: Messages.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import {
  CITY, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, failure, isCut, run, weather,
} from "./checks.mjs";

const client = (url) => new Anthropic({ baseURL: url });
const ASK = { model: MODEL, max_tokens: 1000, messages: [{ role: "user", content: "Hello" }] };

async function text(url) {
  const message = await client(url).messages.create({ ...ASK, system: "Be brief." });
  assert.deepEqual(message.content.map((block) => block.type), ["text"]);
  assert.deepEqual([message.content[0].text, message.stop_reason], [TEXT, "end_turn"]);
  // What came from the cache is not part of the input tokens here.
  const { input_tokens, cache_read_input_tokens, output_tokens } = message.usage;
  assert.deepEqual([input_tokens, cache_read_input_tokens, output_tokens], [16, 5, 13]);
  const { model, messages } = ASK;
  assert.ok((await client(url).messages.countTokens({ model, messages })).input_tokens > 0);
}

async function stream(url) {
  const stream = client(url).messages.stream(ASK);
  const deltas = [];
  stream.on("text", (delta) => deltas.push(delta));
  const final = await stream.finalMessage();
  assert.deepEqual([final.content[0].text, deltas.join("")], [STREAMED, STREAMED]);
  assert.ok(deltas.length > 3);
  assert.deepEqual([final.stop_reason, final.usage.output_tokens], ["end_turn", 34]);
}

async function tools(url) {
  const tools = [{ name: "get_weather", description: "The weather", input_schema: CITY }];
  const first = await client(url).messages.stream({ ...ASK, tools }).finalMessage();
  assert.equal(first.stop_reason, "tool_use");
  const uses = first.content.filter((block) => block.type === "tool_use");
  assert.equal(uses.length, 2);
  const content = uses.map(({ id, input }) => {
    return { type: "tool_result", tool_use_id: id, content: weather(input) };
  });
  const messages = [
    ...ASK.messages,
    { role: "assistant", content: first.content },
    { role: "user", content },
  ];
  const second = await client(url).messages.create({ ...ASK, messages, tools });
  assert.equal(second.content[0].text, TOOLS_DONE);
}

async function error(url) {
  const error = await failure(() => client(url).messages.create(ASK));
  assert.ok(error instanceof Anthropic.BadRequestError, error);
  assert.equal(error.status, 400);
  assert.deepEqual([error.error.type, error.error.error.type], ["error", "invalid_request_error"]);
  assert.equal(error.error.error.message, ERROR);
}

async function retry(url) {
  assert.equal((await client(url).messages.create(ASK)).content[0].text, RETRIED);
}

async function cut(url) {
  let text = "";
  await failure(async () => {
    for await (const event of await client(url).messages.create({ ...ASK, stream: true })) {
      assert.notEqual(event.type, "message_stop");
      if (event.type === "content_block_delta") text += event.delta.text;
    }
  });
  isCut(text);
}

await run({
  "messages.text": text,
  "messages.stream": stream,
  "messages.tools": tools,
  "messages.error": error,
  "messages.retry": retry,
  "messages.cut": cut,
});
