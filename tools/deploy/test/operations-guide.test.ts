// Every command of the operations guide is run. Other tests run the marked blocks on real servers. This file runs the rest: the
// commands for compose and Kubernetes only until they connect, because they need a Docker daemon or a cluster.
import { copyFile, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import dockerignore from "@balena/dockerignore";
import { describeWithProgram } from "@petstore/harness";
import { openInstalledPostgres, query } from "@petstore/harness/postgres";
import { markedCommands, openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { folder, petstore, read, run } from "./commands.js";
import { readCompose } from "./containers.js";

const guide = await read("operations.md");
const blocks = [...guide.matchAll(/(?:^<!-- (\S+) -->\n)?^ *```sh\n(.*?)^ *```$/gms)].map(([, mark, code = ""]) => {
  return { mark, commands: commandsOf(code) };
});
const inline = [...guide.replaceAll(/^ *```.*?^ *```$/gms, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
const commands = [...blocks.flatMap((block) => block.commands), ...inline.flatMap((code) => pipelineOf(code))];
/** These files run the blocks that they name. */
const tests = [
  "deploy/test/containers.ts",
  "deploy/test/doctor-outside.test.ts",
  "deploy/test/monitoring.test.ts",
  "deploy/test/one-machine.test.ts",
  "deploy/test/roles.test.ts",
  "checks/guides/examples.test.ts",
  "checks/guides/backup.test.ts",
  "checks/guides/store-with-creates.ts",
];

const petstoreGroups =
  /^(?:node tools\/admin\/bin\/petstore\.mjs|docker compose run --rm petstore|petstore) (?=\S)|^(?=(?:account|audit|ban|key|usage) .* )/;

it("has no block that no test runs", async () => {
  const texts = await Promise.all(tests.map((file) => readFile(new URL(`tools/${file}`, repository), "utf8")));
  const marks = blocks.flatMap(({ mark }) => mark ?? []);
  expect(marks.length).toBeGreaterThan(10);
  expect(marks.filter((mark) => !texts.join().includes(`"${mark}"`))).toEqual([]);
  const others = blocks.filter(({ mark }) => mark === undefined).flatMap((block) => block.commands);
  expect(new Set(others.map((command) => command.split(" ")[0]))).toEqual(new Set(["docker", "kubectl"]));
});

it("uses the petstore command as it is", { timeout: 600_000 }, async () => {
  const found = commands.filter((command) => petstoreGroups.test(command));
  expect(found.length).toBeGreaterThan(12);
  for (const command of new Set(found.map((text) => text.replace(petstoreGroups, "")))) {
    // A sentence names `key issue --test` without the account.
    const words = command.replace("ACCOUNT", "shop").replace("ID", "1").replace("issue -", "issue shop -").split(" ");
    const failed = ({ code }: { readonly code: number }) => code;
    const exitCode = await petstore("postgres://nobody@127.0.0.1:1/none", ...words).then(() => 0, failed);
    // 0: needs no database. 1: understood, but there is no database. 2: not understood.
    expect(exitCode, command).toBe(command === "requirements" ? 0 : 1);
  }
});

it("writes passwords and backups to a folder that only its user enters, outside the repository", async () => {
  const code = [...guide.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = ""]) => block).join("");
  const secrets = code.match(/[^\s="']*(?:-password|\.dump|\/base|\/wal|\/copy)(?![\w-])/g) ?? [];
  expect(secrets.length).toBeGreaterThan(10);
  // Compose mounts the files of make-secrets.sh in /run/secrets.
  expect(
    secrets.filter((path) => !/^(?:\$\(cat |(?:~|\$HOME)\/petstore-private\/|\/run\/secrets\/)/.test(path)),
  ).toEqual([]);

  await using home = await openTemporaryDirectory();
  const commands = await markedCommands("tools/deploy/operations.md", "private-folder");
  await run("sh", ["-euc", commands], { env: { PATH: process.env.PATH, HOME: home.path } });
  const made = join(home.path, "petstore-private");
  expect((await stat(made)).mode & 0o777).toBe(0o700);
  const passwords = await Promise.all((await readdir(made)).map((name) => readFile(join(made, name), "utf8")));
  expect(passwords).toEqual(Array(2).fill(expect.stringMatching(/^[0-9a-f]{48}\n$/)));
  expect(passwords[0]).not.toBe(passwords[1]);
});

it.each([
  "owner-password",
  "service-password",
  "petstore.dump",
  "petstore-base/PG_VERSION",
  "petstore-copy/cluster/service-password",
  "petstore-wal/000000010000000000000001.partial",
  "petstore-private/base/PG_VERSION",
])("git and the build of the images ignore %s, which a guide has named", async (name) => {
  const ignored = dockerignore.default().add((await read("Dockerfile.dockerignore")).split("\n"));
  await using directory = await openTemporaryDirectory();
  await copyFile(new URL(".gitignore", repository), join(directory.path, ".gitignore"));
  await run("git", ["init", "--quiet"], { cwd: directory.path });
  for (const path of [name, `tools/admin/${name}`]) {
    expect(ignored.ignores(path), path).toBe(true);
    await run("git", ["check-ignore", "--quiet", path], { cwd: directory.path });
  }
});

/** Each command runs without its server: it is well-formed if it fails only when it connects. */
describeWithProgram("docker-compose", "the commands for compose", async () => {
  // Compose reads the files before it connects. It finds those of one machine by their names.
  const [, haFiles = ""] = /^ *COMPOSE_FILE=(\S+ha\.yaml)$/m.exec(guide) ?? [];
  const files = await Promise.all(["compose.yaml", "compose.override.yaml", "compose.ha.yaml"].map(readCompose));
  const services = files.flatMap((compose) => Object.keys(compose.services));

  // Compose does not read the words after the container in which a command runs.
  const inContainer = /^(docker compose (?:run|exec) (?:-\S+ |[A-Z_]+=\S+ )*\w+)\b.*/;
  const distinct = new Set(unique(/^docker compose \S/).map((command) => command.replace(inContainer, "$1 true")));

  it.each([...distinct])("%s", async (command) => {
    const isOfHa = /\b(?:etcd|postgres|redis|sentinel)\d\b/.test(command);
    const environment = isOfHa ? { COMPOSE_FILE: `${haFiles}:compose.tls.yaml` } : {};
    const failure = await failureOf(command.replace("docker compose", "docker-compose"), environment);
    expect(failure).toMatch(/refused|Cannot connect/);
    const [, action = "", words = ""] = /^docker compose (?:--\S+ \S+ )*(\w+)(.*)$/.exec(command) ?? [];
    const names = words.split(" ").filter((word) => /^[a-z]+\d?$/.test(word));
    expect(services).toEqual(expect.arrayContaining(["run", "exec"].includes(action) ? names.slice(0, 1) : names));
  });
});

describeWithProgram("kubectl", "the commands for Kubernetes", () => {
  it.each(unique(/^kubectl .*(job|overlay|stores|ha)/))("%s", async (command) => {
    expect(await failureOf(command)).toContain("refused");
  });
});

describeWithProgram("postgres", "the statements for an administrator of PostgreSQL", () => {
  it("work as they are", async () => {
    const statements = inline.filter((code) => /^(?:alter role|reassign owned) /.test(code));
    expect(statements).not.toEqual([]);
    await using server = await openInstalledPostgres();
    await query(server.url, "create role petstore; create role petstore_service; create role that_role");
    for (const statement of statements) await query(server.url, statement);
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
async function failureOf(command: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const nowhere = "127.0.0.1:1";
  const env = {
    PATH: process.env.PATH,
    USER: "operator",
    DOCKER_HOST: `tcp://${nowhere}`,
    KUBERNETES_MASTER: `http://${nowhere}`,
    ...environment,
  };
  return run("sh", ["-euc", command], { cwd: folder, env }).then(
    ({ stdout }) => `It succeeded: ${stdout}`,
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
}
