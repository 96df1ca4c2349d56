import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readDockerfile } from "./dockerfile.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

describe("the audit of known vulnerabilities", () => {
  it("passes when the registry knows none", async () => {
    expect(await auditWith(200, {})).toMatchObject({ exitCode: 0, output: expect.not.stringContaining("NOT CHECKED") });
  });

  it("fails on one of high severity in a package that is shipped", async () => {
    const advisory = {
      id: 1,
      url: "https://example.com/1",
      title: "A test",
      severity: "high",
      vulnerable_versions: "*",
    };
    const { exitCode, output } = await auditWith(200, { express: [advisory] });
    expect(output).toContain("express");
    expect(exitCode).toBe(1);
  });

  it("says so when the registry offers no audits", async () => {
    const { exitCode, output } = await auditWith(405, "Method Not Allowed");
    expect({ exitCode, output }).toMatchObject({ exitCode: 0, output: expect.stringContaining("NOT CHECKED") });
  });

  it("fails when the registry cannot be asked", async () => {
    expect(await auditWith(403, "Forbidden")).toMatchObject({ exitCode: 1 });
  });
});

it("the bill of materials names what is shipped, and nothing that only building needs", async () => {
  const directory = await mkdtemp(join(tmpdir(), "petstore-sbom-"));
  try {
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Scripts;
    const file = join(directory, "sbom.json");
    const command = (scripts.sbom ?? "").replace(/--out \S+/, `--out ${file}`);
    await run("sh", ["-ec", command], { cwd: root });
    const bill = JSON.parse(await readFile(file, "utf8")) as Bill;
    expect(bill).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "petstore" } } });
    const names = bill.components.map(({ purl = "" }) => /^pkg:npm\/(.+)@/.exec(purl)?.[1]);
    expect(names).toEqual(expect.arrayContaining(["express", "pg", "ioredis", "graphql"]));
    for (const tool of ["turbo", "typescript", "%40biomejs/biome"]) expect(names).not.toContain(tool);
  } finally {
    await rm(directory, { recursive: true });
  }
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
