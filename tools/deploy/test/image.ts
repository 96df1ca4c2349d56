// What an image holds, run as it would be: by a user without rights, with an environment of its own and nothing else.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { inject } from "vitest";
import { commandOf, readDockerfile, stagesOf } from "./dockerfile.js";

export type Environment = Readonly<Record<string, string>>;

/** A service from its image, as a process. Disposing ends it. */
export interface RunningService extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly host: string;
  readonly port: number;
  readonly origin: string;
  readonly metricsUrl: string;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export interface ServicePlace {
  readonly host?: string;
  readonly port?: number;
}

const timeoutMs = 15_000;

export function folderOf(image: string): string {
  return join(inject("imagesDirectory"), image);
}

/** The user of the images, where this process may become another user; this user, who has no rights either, else. */
function withoutRights(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: 65_532, gid: 65_532 } : {};
}

export async function startService(
  image: string,
  environment: Environment,
  { host = "127.0.0.1", port }: ServicePlace = {},
): Promise<RunningService> {
  const chosen = port ?? (await choosePort(undefined));
  const metricsPort = await choosePort(undefined);
  const child = spawn(process.execPath, await argumentsOf(image), {
    cwd: "/",
    env: {
      NODE_ENV: "production",
      HOST: host,
      PORT: `${chosen}`,
      METRICS_HOST: host,
      METRICS_PORT: `${metricsPort}`,
      ...environment,
    },
    stdio: ["ignore", "ignore", "pipe"],
    ...withoutRights(),
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  const orphan = () => child.kill("SIGKILL");
  process.once("exit", orphan);
  void ended.then(() => process.off("exit", orphan));
  const service: RunningService = {
    process: child,
    host,
    port: chosen,
    origin: `http://${host}:${chosen}`,
    metricsUrl: `http://${host}:${metricsPort}/metrics`,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
      await ended;
      clearTimeout(timer);
    },
  };
  if (!(await until(async () => child.exitCode !== null || (await answers(`${service.origin}/livez`))))) {
    await service[Symbol.asyncDispose]();
    throw new Error("The service did not start in time");
  }
  if (child.exitCode !== null) throw new Error(`The service ended at its start: ${complaint}`);
  return service;
}

/** One run of the petstore command; rejects where it fails. */
export async function petstore(databaseUrl: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...(await argumentsOf("petstore")), ...words], {
    cwd: "/",
    env: { NODE_ENV: "production", DATABASE_URL: databaseUrl },
    ...withoutRights(),
  });
  return stdout;
}

/** What the image gives to Node, with its program where the test has it. */
async function argumentsOf(image: string): Promise<string[]> {
  const [, ...words] = commandOf(image, stagesOf(await readDockerfile()));
  return words.map((word) => word.replace(/^\/app(?=\/)/, folderOf(image)));
}

/** Asks again until it holds; false when it does not in time. */
export async function until(holds: () => Promise<boolean>): Promise<boolean> {
  const startMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startMs > timeoutMs) return false;
    await sleep(20);
  }
  return true;
}

/** Whether it answers with success. */
export async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    // Not listening yet, or no longer.
    return false;
  }
}
