import { execFileSync, fork } from "node:child_process";
import { on, once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import pg from "pg";
import { afterAll, test as plainTest } from "vitest";

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

/** Gives each test the path of a directory whose first start is done and whose server is stopped. */
export const test = plainTest.extend<{ readonly directory: string }>({
  directory: async ({ task: _ }, use) => {
    await using directory = await emptyDirectory();
    const firstStart = await openAlone(directory.path);
    await firstStart[Symbol.asyncDispose]();
    await use(directory.path);
  },
});

/** Opens a database for all tests of a file. `administratorUrl` is for the superuser. */
export async function openForFile() {
  const directory = await emptyDirectory();
  afterAll(() => directory[Symbol.asyncDispose]());
  const database = await openAlone(directory.path);
  afterAll(() => database[Symbol.asyncDispose]());
  const password = (await readFile(join(directory.path, "cluster", "superuser-password"), "utf8")).trim();
  const administratorUrl = Object.assign(new URL(database.url), { username: "postgres", password }).href;
  return { ...database, directory: directory.path, administratorUrl };
}

/** A process that opens the directory. `next` resolves with its next message, or with undefined at its end. */
export function startOwner(directory: string) {
  const child = fork(ownerScript, [directory]);
  const ended = once(child, "exit");
  // A last message may follow "exit", and never "disconnect".
  const messages = on(child, "message", { close: ["disconnect"] });
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return {
    process: child,
    next: async (): Promise<Record<string, unknown> | undefined> => (await messages.next()).value?.[0],
    kill,
    [Symbol.asyncDispose]: kill,
  };
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
