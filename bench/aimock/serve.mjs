// The peer with the same answer as the mock under measurement: 20 deltas of 24 characters.
// It prints its address and runs until it is killed.
import { LLMock } from "@copilotkit/aimock";

const text = "abcdefghijklmnopqrstuvwx".repeat(20);
const mock = new LLMock({ port: 0, logLevel: "silent", chunkSize: 24, latency: 0 });
mock.onMessage(/.*/s, { content: text });
await mock.start();
console.log(new URL(mock.url).host);
