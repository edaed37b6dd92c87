// The AI SDK with its OpenAI provider (Responses and Chat Completions) and its Anthropic provider.

import assert from "node:assert/strict";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import {
  ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, failure, isCut, run, weather,
} from "./checks.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const openai = (url) => createOpenAI({ baseURL: `${url}/v1` });
const anthropic = (url) => createAnthropic({ baseURL: `${url}/v1` });

const tools = {
  get_weather: tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: weather,
  }),
};

/** The checks with one provider; `model` makes its model for a server. */
function checks(wire, model) {
  const ask = (url) => ({ model: model(url), prompt: "Hello" });
  return {
    [`${wire}.text`]: async (url) => {
      const result = await generateText({ ...ask(url), system: "Be brief." });
      assert.deepEqual([result.text, result.finishReason], [TEXT, "stop"]);
      const { inputTokens, outputTokens, totalTokens, inputTokenDetails } = result.usage;
      assert.deepEqual([inputTokens, outputTokens, totalTokens], [21, 13, 34]);
      assert.equal(inputTokenDetails.cacheReadTokens, 5);
    },
    [`${wire}.stream`]: async (url) => {
      const result = streamText(ask(url));
      const deltas = [];
      for await (const part of result.fullStream) {
        assert.notEqual(part.type, "error", part.error);
        if (part.type === "text-delta") deltas.push(part.text);
      }
      assert.equal(deltas.join(""), STREAMED);
      assert.ok(deltas.length > 3);
      assert.deepEqual([await result.text, await result.finishReason], [STREAMED, "stop"]);
      assert.equal((await result.usage).totalTokens, 55);
    },
    [`${wire}.tools`]: async (url) => {
      const result = streamText({ ...ask(url), tools, stopWhen: stepCountIs(3) });
      await result.consumeStream({ onError: (error) => assert.fail(error) });
      assert.equal(await result.text, TOOLS_DONE);
      const steps = await result.steps;
      assert.deepEqual(steps.map((step) => step.finishReason), ["tool-calls", "stop"]);
      const outputs = steps[0].toolResults.map((result) => result.output);
      assert.deepEqual(outputs, ["sunny in Paris", "rainy in Köln"]);
    },
    [`${wire}.error`]: async (url) => {
      const error = await failure(() => generateText(ask(url)));
      assert.ok(APICallError.isInstance(error), error);
      assert.deepEqual([error.statusCode, error.isRetryable, error.message], [400, false, ERROR]);
      assert.equal(error.data.error.type, "invalid_request_error");
      if (wire !== "messages") {
        const { code, param } = error.data.error;
        assert.deepEqual([code, param], ["unsupported_value", "temperature"]);
      }
    },
    [`${wire}.retry`]: async (url) => {
      assert.equal((await generateText(ask(url))).text, RETRIED);
    },
    [`${wire}.cut`]: async (url) => {
      let text = "";
      const result = streamText({ ...ask(url), onError() {} });
      await failure(async () => {
        for await (const part of result.fullStream) {
          if (part.type === "text-delta") text += part.text;
          if (part.type === "error") throw part.error;
          assert.notEqual(part.type, "finish");
        }
      });
      isCut(text);
    },
  };
}

await run({
  ...checks("responses", (url) => openai(url).responses(MODEL)),
  ...checks("chat", (url) => openai(url).chat(MODEL)),
  ...checks("messages", (url) => anthropic(url).messages(MODEL)),
});
