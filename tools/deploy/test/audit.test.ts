// The audit of known vulnerabilities in CI.
import { fileURLToPath } from "node:url";
import { openHttpServer } from "@petstore/harness/network";
import { repository, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const command = fileURLToPath(new URL(".ci/audit", repository));
const advisory = { id: 1, url: "https://example.com/1", title: "A test", severity: "high", vulnerable_versions: "*" };

it.each<[what: string, status: number, body: unknown, exitCode: number, printed: string]>([
  ["fails on one of high severity in a package that is shipped", 200, { express: [advisory] }, 1, "express"],
  ["says so when the registry offers no audits", 405, "Method Not Allowed", 0, "NOT CHECKED"],
  ["fails when the registry cannot be asked", 403, "Forbidden", 1, "403"],
])("the audit of known vulnerabilities %s", async (_what, status, body, exitCode, printed) => {
  await using registry = await openHttpServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const environment = { ...process.env, PNPM_CONFIG_REGISTRY: `${registry.url}/` };
  await using audit = startProgram({ name: "The audit", command, args: [], environment });
  expect(await audit.ended).toBe(exitCode);
  expect(audit.output.join("\n")).toContain(printed);
});
