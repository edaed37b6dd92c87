// The OpenAI library for Node.js: Responses and Chat Completions over HTTP.

import assert from "node:assert/strict";
import OpenAI from "openai";
import {
  CITY, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, failure, isCut, run, weather,
} from "./checks.mjs";

const client = (url) => new OpenAI({ baseURL: `${url}/v1` });
const HELLO = { model: MODEL, input: "Hello" };

async function responsesText(url) {
  const response = await client(url).responses.create({ ...HELLO, instructions: "Be brief." });
  assert.equal(response.output_text, TEXT);
  assert.equal(response.status, "completed");
  assert.deepEqual([response.error, response.incomplete_details], [null, null]);
  assert.deepEqual([response.model, response.instructions], [MODEL, "Be brief."]);
  const { input_tokens, output_tokens, total_tokens, input_tokens_details } = response.usage;
  assert.deepEqual([input_tokens, output_tokens, total_tokens], [21, 13, 34]);
  assert.equal(input_tokens_details.cached_tokens, 5);
}

async function responsesStream(url) {
  const stream = client(url).responses.stream(HELLO);
  const events = [];
  for await (const event of stream) events.push(event);
  // The library adds `output_text` only to answers that are not streamed.
  assert.equal((await stream.finalResponse()).output[0].content[0].text, STREAMED);
  assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()]);
  const deltas = events.filter((event) => event.type === "response.output_text.delta");
  assert.equal(deltas.map((event) => event.delta).join(""), STREAMED);
  assert.ok(deltas.length > 3);
  assert.equal(events.at(-1).response.usage.total_tokens, 55);
}

async function responsesTools(url) {
  const tools = [{ type: "function", name: "get_weather", parameters: CITY, strict: true }];
  const input = [{ role: "user", content: "How is the weather?" }];
  const first = await client(url).responses.stream({ model: MODEL, input, tools }).finalResponse();
  const calls = first.output.filter((item) => item.type === "function_call");
  assert.deepEqual(calls.map((call) => call.call_id), ["call_paris", "call_koeln"]);
  input.push(...first.output);
  for (const { call_id, arguments: text } of calls) {
    input.push({ type: "function_call_output", call_id, output: weather(JSON.parse(text)) });
  }
  const second = await client(url).responses.create({ model: MODEL, input, tools });
  assert.equal(second.output_text, TOOLS_DONE);
}

function refused(error) {
  assert.ok(error instanceof OpenAI.BadRequestError, error);
  assert.deepEqual([error.status, error.type], [400, "invalid_request_error"]);
  assert.deepEqual([error.code, error.param], ["unsupported_value", "temperature"]);
  assert.equal(error.error.message, ERROR);
}

async function responsesError(url) {
  refused(await failure(() => client(url).responses.create({ ...HELLO, temperature: 9 })));
}

async function responsesRetry(url) {
  assert.equal((await client(url).responses.create(HELLO)).output_text, RETRIED);
}

async function responsesCut(url) {
  let text = "";
  await failure(async () => {
    for await (const event of await client(url).responses.create({ ...HELLO, stream: true })) {
      assert.notEqual(event.type, "response.completed");
      if (event.type === "response.output_text.delta") text += event.delta;
    }
  });
  isCut(text);
}

const CHAT = { model: MODEL, messages: [{ role: "user", content: "Hello" }] };

async function chatText(url) {
  const completion = await client(url).chat.completions.create(CHAT);
  const [choice] = completion.choices;
  assert.deepEqual([choice.message.content, choice.finish_reason], [TEXT, "stop"]);
  assert.deepEqual([completion.usage.total_tokens, completion.usage.prompt_tokens], [34, 21]);
}

async function chatStream(url) {
  const options = { stream_options: { include_usage: true } };
  const stream = client(url).chat.completions.stream({ ...CHAT, ...options });
  const deltas = [];
  stream.on("content", (delta) => deltas.push(delta));
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0].message.content, STREAMED);
  assert.equal(deltas.join(""), STREAMED);
  assert.ok(deltas.length > 3);
  assert.deepEqual([final.choices[0].finish_reason, final.usage.total_tokens], ["stop", 55]);
}

async function chatTools(url) {
  const run = { name: "get_weather", parameters: CITY, parse: JSON.parse, function: weather };
  const runner = client(url).chat.completions.runTools({
    ...CHAT,
    stream: true,
    tools: [{ type: "function", function: { description: "The weather", ...run } }],
  });
  assert.equal(await runner.finalContent(), TOOLS_DONE);
}

async function chatError(url) {
  refused(await failure(() => client(url).chat.completions.create({ ...CHAT, temperature: 9 })));
}

async function chatRetry(url) {
  const completion = await client(url).chat.completions.create(CHAT);
  assert.equal(completion.choices[0].message.content, RETRIED);
}

async function chatCut(url) {
  let text = "";
  await failure(async () => {
    for await (const chunk of await client(url).chat.completions.create({ ...CHAT, stream: true })) {
      assert.equal(chunk.choices[0].finish_reason, null);
      text += chunk.choices[0].delta.content ?? "";
    }
  });
  isCut(text);
}

await run({
  "responses.text": responsesText,
  "responses.stream": responsesStream,
  "responses.tools": responsesTools,
  "responses.error": responsesError,
  "responses.retry": responsesRetry,
  "responses.cut": responsesCut,
  "chat.text": chatText,
  "chat.stream": chatStream,
  "chat.tools": chatTools,
  "chat.error": chatError,
  "chat.retry": chatRetry,
  "chat.cut": chatCut,
});
