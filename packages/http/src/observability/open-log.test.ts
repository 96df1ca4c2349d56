import { expect, it } from "vitest";
import { createLog } from "./log.js";
import { prettyLine } from "./open-log.js";

it("prints an event in one line for a person, without keys and control characters", () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (json) => void lines.push(prettyLine(json)) });
  log.info({ error: new Error("a\n\u001b[31mb pets_live_abc") }, "failed");
  const error = '{"name":"Error","message":"a\\\\u{a}\\\\u{1b}[31mb pets_live_[redacted]"}';
  // The line begins with the time of day in the time zone of this machine.
  expect(lines.map((line) => line.slice("14:03:22 ".length))).toEqual([`INFO  failed error=${error}\n`]);
});
