// What the scripts of all clients share: the texts of the scripts and the loop over the checks.
//
// A script is called with arguments of the form NAME=URL: a check, and the root address of a server
// that plays the check's script. It prints `ok NAME` for each check that holds, and ends with a
// trace and a status other than 0 at the first that does not.

import assert from "node:assert/strict";

export const MODEL = "mock-model";
export const TEXT = "Grüße aus Köln ☕ – und 🦀 auch.";
export const STREAMED =
  "Der Zug fährt über die Brücke ☕ und 🦀 sieht ihm nach; " +
  "one, two, three, four, five, six, seven, eight.";
export const TOOLS_DONE = "Sun in Paris, rain in Köln.";
export const RETRIED = "It worked at last.";
export const ERROR = "'temperature' cannot be 9 with this model.";
export const CUT =
  "Half of this text never arrives, for the connection closes; " +
  "one, two, three, four, five, six, seven.";
export const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** The tool that the scripts call. */
export function weather({ city }) {
  const known = { Paris: "sunny in Paris", Köln: "rainy in Köln" };
  assert.ok(city in known, city);
  return known[city];
}

/** Holds for what is left of the text whose answer is cut off. */
export function isCut(text) {
  assert.ok(CUT.startsWith(text) && text.length > 0 && text.length < CUT.length, text);
}

/** The error that the action must fail with. */
export async function failure(action) {
  let result;
  try {
    result = await action();
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return error;
  }
  assert.fail(`it did not fail but gave ${JSON.stringify(result)}`);
}

export async function run(checks) {
  for (const argument of process.argv.slice(2)) {
    const at = argument.indexOf("=");
    const name = argument.slice(0, at);
    await checks[name](argument.slice(at + 1));
    console.log(`ok ${name}`);
  }
}
