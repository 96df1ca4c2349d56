import { type HttpAnswer, openHttpClient } from "@petstore/harness/network";
import { type Service, startService } from "@petstore/harness/processes";

/** The service as an operator runs it. Disposing kills it. */
export interface RestProcess extends Service {
  /** Sends a GET request, or one with another method. */
  get(path: string, key?: string, method?: string): Promise<HttpAnswer>;
}

export async function startRest(environment: Readonly<Record<string, string>>): Promise<RestProcess> {
  const service = await startService({ environment });
  const client = openHttpClient(service.origin);
  return {
    ...service,
    get: (path, key, method = "GET") => client.send(method, path, key === undefined ? {} : { key }),
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await service.kill();
    },
  };
}
