// No request can change the form of its log line, or add a line.
import { expect, it } from "vitest";
import { sendEveryRequest } from "./every-request.js";
import { expectKnownFields, withoutIds } from "./log-line.js";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore({ ANONYMOUS_REQUESTS_PER_MINUTE: "1000000" });
const { key } = await store.issueKey();

/** Texts that start a new line, end a JSON string or control a terminal. */
const hostile = [
  "\r\n",
  '\n{"level":"info","requestId":"forged","status":200}\n',
  '","status":200,"forged":"yes',
  "\\",
  "\u001b[2J\u001b[31mforged\u001b[0m",
  "\u0000",
  "\u0085\u009b31m",
  "\u2028\u2029",
  "\u202eforged",
  "\ud800",
  "😀",
  "%0d%0aforged",
];

it.each(hostile)("a log line is one JSON object of known fields when a client sends %j anywhere", async (text) => {
  const before = store.logged.length;
  const answers = [await sendEveryRequest(store, key, text), await sendEveryRequest(store, key, text, "latin1")].flat();
  await expect.poll(() => store.logged.length).toBeGreaterThanOrEqual(before + answers.length);
  const lines = store.logged.slice(before);
  for (const line of lines) expectKnownFields(line);
  expect(withoutIds(lines)).not.toContain("forged");
});
