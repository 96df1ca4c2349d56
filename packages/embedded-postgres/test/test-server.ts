import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type EmbeddedPostgres, embeddedPostgresUrl, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import pg from "pg";
import { afterAll, inject, test as plainTest, type TestAPI } from "vitest";

const ownerScript = fileURLToPath(new URL("owner.mjs", import.meta.url));

/** A directory that does not exist yet. Its server and its files are removed at the end. */
export async function emptyDirectory(): Promise<{ path: string } & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), "petstore-embedded-"));
  const path = join(root, "data folder");
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      const pid = await postmasterPid(path).catch(() => undefined);
      if (pid !== undefined && stillRunning([pid]).length > 0) process.kill(pid, "SIGKILL");
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Opens a directory that no other process owns. */
export async function openAlone(directory: string): Promise<EmbeddedPostgres> {
  const opened = await openEmbeddedPostgres(directory);
  if ("holderPid" in opened) throw new Error(`in use by ${opened.holderPid}`);
  return opened;
}

/** A directory whose first start is done and whose server is stopped. */
async function preparedDirectory(): ReturnType<typeof emptyDirectory> {
  const directory = await emptyDirectory();
  // cp -a keeps the owners, which are not ours when root runs the tests.
  execFileSync("cp", ["-a", inject("templateDirectory"), directory.path]);
  return directory;
}

/** Gives each test the path of a directory whose first start is done and whose server is stopped. */
export const test: TestAPI<{ readonly directory: string }> = plainTest.extend<{ readonly directory: string }>({
  directory: async ({ task: _ }, use) => {
    await using directory = await preparedDirectory();
    await use(directory.path);
  },
});

/** Opens a database for all tests of a file. */
export async function openForFile(): Promise<EmbeddedPostgres & { readonly directory: string }> {
  const directory = await preparedDirectory();
  afterAll(() => directory[Symbol.asyncDispose]());
  const database = await openAlone(directory.path);
  afterAll(() => database[Symbol.asyncDispose]());
  return { ...database, directory: directory.path };
}

export interface Owner extends AsyncDisposable {
  readonly process: ChildProcess;
  /** The next line that the owner says; undefined at its end. */
  next(): Promise<Record<string, unknown> | undefined>;
  kill(): Promise<void>;
}

export function startOwner(directory: string): Owner {
  const child = spawn(process.execPath, [ownerScript, directory], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return {
    process: child,
    next: async () => {
      const line = await lines.next();
      return line.done === true ? undefined : JSON.parse(line.value);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Starts the server of a directory, and kills it together with its owner. */
export async function killServer(directory: string): Promise<void> {
  await using owner = startOwner(directory);
  await owner.next();
  const pid = await postmasterPid(directory);
  await owner.kill();
  process.kill(pid, "SIGKILL");
  while (stillRunning([pid]).length > 0) await delay(5);
}

/** The superuser's address of the server that runs on this directory. */
export async function administratorUrl(directory: string): Promise<string> {
  const url = new URL(String(await embeddedPostgresUrl(directory)));
  url.username = "postgres";
  url.password = (await readFile(join(directory, "cluster", "superuser-password"), "utf8")).trim();
  return url.href;
}

export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

export async function postmasterPid(directory: string): Promise<number> {
  return Number.parseInt(await readFile(join(directory, "cluster", "data", "postmaster.pid"), "utf8"), 10);
}

/** The server's own processes: the postmaster and its children. */
export function serverProcesses(postmaster: number): number[] {
  return processTable()
    .filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
    .map(({ pid }) => pid);
}

/** Returns the processes that still run. Dead ones that their parent has not collected do not count. */
export function stillRunning(pids: readonly number[]): number[] {
  return processTable()
    .filter(({ pid, state }) => pids.includes(pid) && !state.startsWith("Z"))
    .map(({ pid }) => pid);
}

function processTable(): { pid: number; parent: number; state: string }[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid, parent, state = ""] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}
