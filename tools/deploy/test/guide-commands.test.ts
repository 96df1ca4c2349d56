// The commands of the operations guide exist, with their options. The examples of tools/checks/guides and other tests here run
// the blocks on real servers.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTestDatabase, describeWithProgram } from "@petstore/harness";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { petstore } from "./image.js";

const folder = fileURLToPath(new URL("../", import.meta.url));
const guide = await readFile(`${folder}operations.md`, "utf8");
const blocks = [...guide.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].flatMap(([, code = ""]) => commandsOf(code));
const inline = [...guide.replaceAll(/^ *```.*?^ *```$/gms, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
const commands = [...blocks, ...inline.flatMap((code) => pipelineOf(code))];

const petstoreGroups =
  /^(?:npx petstore|docker compose run --rm petstore|petstore) (?=\S)|^(?=(?:account|audit|ban|key|usage) .* )/;

it("has no command that this file or the other tests of the guide do not know", () => {
  const programs = new Set(blocks.map((command) => command.split(" ")[0]));
  expect([...programs].sort()).toEqual(
    [
      "createdb",
      "docker",
      "export",
      "grep",
      "kubectl",
      "node",
      "npm",
      "npx",
      "pg_dump",
      "pg_restore",
      "psql",
      "sh",
    ].sort(),
  );
});

it("runs scripts that the repository has", async () => {
  const { scripts } = JSON.parse(await readFile(`${folder}../../package.json`, "utf8")) as { scripts: object };
  const named = commands.flatMap((command) => /^npm (?:run )?(\S+)/.exec(command)?.[1] ?? []);
  expect(named.length).toBeGreaterThan(3);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});

it("uses the petstore command as it is", { timeout: 180_000 }, async () => {
  await using database = await createTestDatabase();
  await petstore(database.url, "migrate");
  const found = commands.filter((command) => petstoreGroups.test(command));
  expect(found.length).toBeGreaterThan(12);
  for (const command of new Set(found.map((text) => text.replace(petstoreGroups, "")))) {
    const words = command.replace("ACCOUNT", "shop").replace("ID", "1").split(" ");
    // 1: understood, but this database does not have the account or the key. 2: not understood.
    const { code, stderr } = await petstore(database.url, ...words).then(
      () => ({ code: 0, stderr: "" }),
      (failure: { readonly code: number; readonly stderr: string }) => failure,
    );
    // A sentence may name a command without its arguments.
    if (!stderr.includes("missing required argument")) expect([0, 1], command).toContain(code);
  }
});

/** Each command runs without its server: it is well-formed if it fails only when it connects. */
describeWithProgram("docker-compose", "the commands for compose", () => {
  let services: readonly string[] = [];

  beforeAll(async () => {
    services = Object.keys((parse(await readFile(`${folder}compose.yaml`, "utf8")) as { services: object }).services);
  });

  it.each(unique(/^docker compose \S/))("%s", async (command) => {
    expect(await failureOf(command.replace("docker compose", "docker-compose"))).toMatch(/refused|Cannot connect/);
    const [, action = "", words = ""] = /^docker compose (?:--\S+ \S+ )*(\w+)(.*)$/.exec(command) ?? [];
    const names = words.split(" ").filter((word) => /^[a-z]+$/.test(word));
    expect(services).toEqual(expect.arrayContaining(["run", "exec"].includes(action) ? names.slice(0, 1) : names));
  });
});

describeWithProgram("kubectl", "the commands for Kubernetes", () => {
  it.each(unique(/^kubectl .*(job|overlay)/))("%s", async (command) => {
    expect(await failureOf(command)).toContain("refused");
  });
});

describeWithProgram("psql", "the commands for PostgreSQL", () => {
  it.each(unique(/^(createdb|pg_dump|pg_restore|psql) /))("%s", async (command) => {
    await using directory = await openTemporaryDirectory();
    // pg_restore opens its file before it connects.
    expect(await failureOf(command, directory.path)).toMatch(/refused|could not open input file "petstore.dump"/);
  });
});

function unique(pattern: RegExp): string[] {
  return [...new Set(commands.filter((command) => pattern.test(command)))];
}

/** The lines of a block, without comments and without the variables before a command. */
function commandsOf(code: string): string[] {
  return code
    .replaceAll("\\\n", " ")
    .split("\n")
    .flatMap((line) => pipelineOf(line.replace(/(^|\s)#.*$/, "")))
    .map((command) => command.replace(/^(?:[A-Z_]+=\S+ )+/, ""))
    .filter((command) => command !== "");
}

function pipelineOf(line: string): string[] {
  return line.trim().replaceAll(/\s+/g, " ").split(" | ");
}

/** Returns what the command prints on standard error when no server answers. */
async function failureOf(command: string, cwd = folder): Promise<string> {
  const nowhere = "127.0.0.1:1";
  const url = `postgres://petstore@${nowhere}/petstore`;
  const env = {
    PATH: process.env.PATH,
    USER: "operator",
    DOCKER_HOST: `tcp://${nowhere}`,
    KUBERNETES_MASTER: `http://${nowhere}`,
    PGHOST: "127.0.0.1",
    PGPORT: "1",
    ADMINISTRATOR_URL: url,
    PETSTORE_ADMINISTRATOR_URL: url,
    DATABASE_OWNER_URL: url,
    RESTORED_URL: url,
  };
  return promisify(execFile)("sh", ["-euc", command], { cwd, env }).then(
    ({ stdout }) => `It succeeded: ${stdout}`,
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
}
