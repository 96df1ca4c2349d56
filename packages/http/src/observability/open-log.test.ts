import { expect, it } from "vitest";
import { createLog } from "./log.js";
import { prettyLine } from "./open-log.js";

/** The line without its time, which depends on the time zone. */
function lineOf(fields: object, message: string): string {
  const lines: string[] = [];
  const destination = { write: (json: string) => void lines.push(prettyLine(json)) };
  createLog("info", destination, { service: "petstore", version: "1.0.0", host: "here", pid: 1 }).info(fields, message);
  const [line = ""] = lines;
  expect(line).toMatch(/^\d\d:\d\d:\d\d /);
  return line.slice(9);
}

const request = { requestId: "id-1", method: "GET", route: "/v1/pets", status: 200, durationMs: 1.234 };

it.each([
  ["a request", request, "INFO  GET /v1/pets 200 in 1.234 ms requestId=id-1\n"],
  [
    "a GraphQL operation",
    { ...request, operationType: "query", operationName: "List", cost: 2 },
    "INFO  GET /v1/pets query List 200 in 1.234 ms cost=2 requestId=id-1\n",
  ],
  [
    "a malformed request",
    { route: "malformed", status: 400, durationMs: 0.1, code: "MALFORMED_REQUEST" },
    "INFO  malformed 400 MALFORMED_REQUEST in 0.1 ms\n",
  ],
])("prints %s in one line", (_kind, fields, line) => {
  expect(lineOf(fields, "request completed")).toBe(line);
});

it("prints any other event in one line, without keys and control characters", () => {
  const error = new Error("a\n\u001b[31mb pets_live_abc");
  expect(lineOf({ error }, "failed")).toBe(
    'INFO  failed error={"name":"Error","message":"a\\\\u{a}\\\\u{1b}[31mb pets_live_[redacted]"}\n',
  );
});
