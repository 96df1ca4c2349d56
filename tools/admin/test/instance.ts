import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A running instance of the store, without its APIs: a process of its own that spends what it is told to. */
export interface Instance extends AsyncDisposable {
  /** Requests one after the other with one key; what became of the last one. */
  request(key: string, times: number): Promise<string>;
  signal(signal: NodeJS.Signals): void;
}

/** Bans at the third request beyond a limit. */
const quickBans = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };

export async function openInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, ...quickBans, ...environment },
  });
  await answerOf(child);
  return {
    async request(key, times) {
      child.send({ key, times });
      return answerOf(child);
    },
    signal: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

function answerOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const settle = (answer: string) => {
      child.off("message", onMessage).off("exit", onExit);
      resolve(answer);
    };
    const onMessage = (answer: unknown) => settle(`${answer}`);
    const onExit = () => settle("ended");
    child.on("message", onMessage).on("exit", onExit);
  });
}

const program = `
import { openCore, readConfig } from ${JSON.stringify(import.meta.resolve("@petstore/core"))};
const log = { info() {}, warn() {}, error() {} };
const core = await openCore(readConfig(process.env), { log, now: Date.now });
process.on("message", async ({ key, times }) => {
  let outcome = "";
  let hasWaited = false;
  for (let request = 0; request < times; request += 1) {
    const { key: record, problem } = await core.authenticator.authenticate(key, "a client");
    if (problem !== undefined) outcome = problem.code;
    else {
      const { limits } = record;
      const account = String(record.accountId);
      outcome = (await core.accountQuota.reserve({ account, key: String(record.lineage), limits, cost: 1 })).outcome;
    }
    // A refusal in the same millisecond as the first one is no strike.
    if (outcome === "refused" && !hasWaited) {
      hasWaited = true;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  process.send(outcome);
});
process.send("ready");
`;
