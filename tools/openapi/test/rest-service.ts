import { migrate } from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { type HttpClient, openHttpClient } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";
import { openStoreDatabase, type StoreDatabase } from "@petstore/test-store/store-database";

/** The REST service in a process of its own, over a database of its own. */
export interface RestService extends AsyncDisposable {
  readonly origin: string;
  readonly client: HttpClient;
  readonly database: StoreDatabase;
}

export async function startRest(environment: Readonly<Record<string, string>> = {}): Promise<RestService> {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase();
  await migrate(url);
  const service = await startService({ environment: { DATABASE_URL: url, LOG_LEVEL: "silent", ...environment } });
  const { origin } = service;
  const client = openHttpClient(origin);
  const database = openStoreDatabase(url);
  return {
    origin,
    client,
    database,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await service.stop();
      await database[Symbol.asyncDispose]();
      await drop();
    },
  };
}
