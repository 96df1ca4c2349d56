import { openHttpClient } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";

/** A running instance of the store, in a process of its own. */
export interface Instance extends AsyncDisposable {
  /** Sends requests one after the other with one key. */
  request(key: string, times: number): Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

export async function openInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const service = await startService({ environment });
  const client = openHttpClient(service.origin);
  return {
    async request(key, times) {
      for (let request = 0; request < times; request += 1) await client.send("GET", "/v1/pets", { key });
    },
    signal: service.signal,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await service.kill();
    },
  };
}
