import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-database";

export interface ServiceOptions {
  /** Its whole environment but for where it listens. */
  readonly environment: Readonly<Record<string, string>>;
  /** How far its clock runs ahead. */
  readonly clockOffsetMs?: number;
}

/** A service in a process of its own, known by what it answers and what it logs. Disposing ends it. */
export interface Service extends AsyncDisposable {
  readonly origin: string;
  /** From its start to its first answer. */
  readonly startedWithinMs: number;
  /** Everything it has written so far, a line each. It writes in batches, at most a second late. */
  readonly output: readonly string[];
  readiness(): Promise<Readiness>;
}

export type Readiness = "ready" | "degraded" | "not ready";

const main = new URL("../../../services/rest/dist/main.js", import.meta.url);
const patienceMs = 15_000;

export async function startService({ environment, clockOffsetMs = 0 }: ServiceOptions): Promise<Service> {
  const port = await choosePort(undefined);
  const origin = `http://127.0.0.1:${port}`;
  const startMs = performance.now();
  const child = spawn(process.execPath, [...clockArguments(clockOffsetMs), main.pathname], {
    env: { ...environment, HOST: "127.0.0.1", PORT: `${port}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "close");
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => output.push(line));
  }
  const dispose = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    await exited;
    clearTimeout(timer);
  };
  // Whoever ends this process ends what it has started.
  const orphan = () => child.kill("SIGKILL");
  process.once("exit", orphan);
  void exited.then(() => process.off("exit", orphan));

  while (!(await answers(origin))) {
    if (child.exitCode !== null || performance.now() - startMs > patienceMs) {
      await dispose();
      throw new Error(`The service did not start: ${output.at(-1) ?? "it says nothing"}`);
    }
    await sleep(10);
  }
  return {
    origin,
    startedWithinMs: performance.now() - startMs,
    output,
    async readiness() {
      const response = await fetch(`${origin}/readyz`);
      const { status } = (await response.json()) as { readonly status: Readiness };
      return status;
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/** A clock that is wrong, for this process alone: what `faketime` does, where it is not installed. */
function clockArguments(offsetMs: number): string[] {
  if (offsetMs === 0) return [];
  const script = `const now = Date.now; Date.now = () => now() + ${offsetMs};`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
}

async function answers(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/livez`)).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}
