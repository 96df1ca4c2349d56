import { openHttpClient } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";

/** A running instance of the store, in a process of its own. */
export interface Instance extends AsyncDisposable {
  /** Sends requests one after the other with one key. Returns the error code of the last one, if it has one. */
  request(key: string, times: number): Promise<string | undefined>;
  signal(signal: NodeJS.Signals): void;
}

/** Bans at the third request beyond a limit. */
const quickBans = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };

export async function openInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const service = await startService({ environment: { ...quickBans, ...environment } });
  const client = openHttpClient(service.origin);
  return {
    async request(key, times) {
      let code: string | undefined;
      for (let request = 0; request < times; request += 1) code = (await client.send("GET", "/v1/pets", { key })).code;
      return code;
    },
    signal: service.signal,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await service.kill();
    },
  };
}
