import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-postgres";
import { serviceFlags } from "@petstore/harness/service-flags";

/** The REST service in a process of its own, always on the same port. Disposing ends it. */
export interface ServiceProcess extends AsyncDisposable {
  readonly origin: string;
  /** SIGKILL: nothing is finished, nothing is said. */
  kill(): Promise<void>;
  /** After a kill. Resolves when it answers. */
  restart(): Promise<void>;
}

const main = new URL("../../../services/rest/dist/main.js", import.meta.url);
const timeoutMs = 15_000;

export async function startService(databaseUrl: string): Promise<ServiceProcess> {
  const port = await choosePort(undefined);
  const origin = `http://127.0.0.1:${port}`;
  let child: ChildProcess;

  async function restart(): Promise<void> {
    const startMs = performance.now();
    child = spawn(process.execPath, [...serviceFlags, main.pathname], {
      env: { DATABASE_URL: databaseUrl, HOST: "127.0.0.1", PORT: `${port}`, LOG_LEVEL: "warn" },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const begun = child;
    // Whoever ends this process ends what it has started.
    const orphan = (): void => void begun.kill("SIGKILL");
    process.once("exit", orphan);
    begun.once("exit", () => process.off("exit", orphan));
    while (!(await answers(origin))) {
      if (begun.exitCode !== null || performance.now() - startMs > timeoutMs) {
        begun.kill("SIGKILL");
        throw new Error("the service did not start");
      }
      await sleep(20);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  await restart();
  return { origin, restart, kill: () => end("SIGKILL"), [Symbol.asyncDispose]: () => end("SIGTERM") };
}

async function answers(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/livez`)).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}
