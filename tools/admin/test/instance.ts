import { startProgram } from "@petstore/harness/processes";

/** A running instance of the store without its APIs, in a process of its own. */
export interface Instance extends AsyncDisposable {
  /** Sends requests one after the other with one key. Returns the outcome of the last one. */
  request(key: string, times: number): Promise<string>;
  signal(signal: NodeJS.Signals): void;
}

/** Bans at the third request beyond a limit. */
const quickBans = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };

export async function openInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const program = startProgram({
    name: "The instance",
    args: ["--input-type=module", "-e", script],
    environment: { ...process.env, ...quickBans, ...environment },
    hasChannel: true,
  });
  await program.printed(/ready/);
  return {
    request: async (key, times) => `${await program.ask({ key, times })}`,
    signal: program.signal,
    [Symbol.asyncDispose]: async () => void (await program.kill()),
  };
}

const script = `
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
console.log("ready");
`;
