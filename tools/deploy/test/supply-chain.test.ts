import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { readDockerfile } from "./dockerfile.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

const advisory = { id: 1, url: "https://example.com/1", title: "A test", severity: "high", vulnerable_versions: "*" };

it.each<[what: string, status: number, body: unknown, exitCode: number, printed: string]>([
  ["passes when the registry knows none", 200, {}, 0, "No known vulnerabilities"],
  ["fails on one of high severity in a package that is shipped", 200, { express: [advisory] }, 1, "express"],
  ["says so when the registry offers no audits", 405, "Method Not Allowed", 0, "NOT CHECKED"],
  ["fails when the registry cannot be asked", 403, "Forbidden", 1, "403"],
])("the audit of known vulnerabilities %s", async (_what, status, body, exitCode, printed) => {
  expect(await auditWith(status, body)).toEqual({ exitCode, output: expect.stringContaining(printed) });
});

it("the bill of materials names what is shipped, and nothing that only building needs", async () => {
  await using directory = await openTemporaryDirectory();
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Scripts;
  const file = join(directory.path, "sbom.json");
  await run("sh", ["-ec", (scripts.sbom ?? "").replace(/--out \S+/, `--out ${file}`)], { cwd: root });
  const bill = JSON.parse(await readFile(file, "utf8")) as Bill;
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "petstore" } } });
  const names = bill.components.map(({ purl = "" }) => /^pkg:npm\/(.+)@/.exec(purl)?.[1]);
  expect(names).toEqual(expect.arrayContaining(["express", "pg", "ioredis", "graphql"]));
  for (const tool of ["turbo", "typescript", "%40biomejs/biome"]) expect(names).not.toContain(tool);
});

it("every command runs the pnpm that the workspace names", async () => {
  const manifest = await readFile(join(root, "package.json"), "utf8");
  const ci = await Promise.all(
    (await readdir(join(root, ".ci"))).map((name) => readFile(join(root, ".ci", name), "utf8")),
  );
  const named = [...[manifest, await readDockerfile(), ...ci].join("\n").matchAll(/pnpm@([\d.]+)/g)].map(
    ([, found]) => found,
  );
  expect(named.length).toBeGreaterThan(10);
  expect(new Set(named).size).toBe(1);
});

interface Scripts {
  readonly scripts: Readonly<Record<string, string>>;
}

interface Bill {
  readonly components: readonly { readonly purl?: string }[];
}

/** Runs the audit of CI with a registry that answers every request for advisories like this. */
async function auditWith(status: number, body: unknown): Promise<{ exitCode: number; output: string }> {
  const registry = createServer((req, res) => {
    req.resume();
    res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  const { port } = registry.address() as { port: number };
  const env = { ...process.env, PNPM_CONFIG_REGISTRY: `http://127.0.0.1:${port}/` };
  try {
    const { stdout } = await run(join(root, ".ci/audit"), { env });
    return { exitCode: 0, output: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { exitCode: code, output: stdout };
  } finally {
    registry.close();
    registry.closeAllConnections();
  }
}
