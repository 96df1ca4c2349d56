import { expect, it } from "vitest";
import { createLog } from "./log.js";
import { prettyLine } from "./open-log.js";

it.each([
  ["a line break", "one\r\ntwo", "one\\u{d}\\u{a}two"],
  ["a control sequence in one byte", "\u009b31mred", "\\u{9b}31mred"],
  ["a line separator", "one\u2028two", "one\\u{2028}two"],
  ["a change of direction", "\u202etxt.exe", "\\u{202e}txt.exe"],
  ["letters", "Größe ж 日本", "Größe ж 日本"],
])("escapes control characters in a dependency's message, and nothing else: %s", (_kind, message, shown) => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  log.error({ error: new Error("outer", { cause: new Error(message) }) }, "failed");
  expect(lines.map((line) => JSON.parse(line).error.cause.message)).toEqual([shown]);
  expect(lines[0]?.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu)).toEqual(["\n"]);
});

it("prints an event in one line for a person, without keys and control characters", () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (json) => void lines.push(prettyLine(json)) });
  log.info({ error: new Error("a\n\u001b[31mb pets_live_abc") }, "failed");
  const error = '{"name":"Error","message":"a\\\\u{a}\\\\u{1b}[31mb pets_live_[redacted]"}';
  // The line begins with the time of day in the time zone of this machine.
  expect(lines.map((line) => line.slice("14:03:22 ".length))).toEqual([`INFO  failed error=${error}\n`]);
});
