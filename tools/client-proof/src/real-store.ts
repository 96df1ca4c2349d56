import { migrate } from "@petstore/core";
import { openTemporaryPostgres } from "@petstore/harness/postgres";
import { type Service, startService } from "@petstore/harness/processes";
import { openStoreDatabase, type StoreDatabase } from "@petstore/test-store/store-database";

/** The REST service over a PostgreSQL of its own, always on the same port. */
export interface RealStore extends AsyncDisposable {
  readonly database: StoreDatabase;
  /** For the client. */
  readonly baseUrl: string;
  /** SIGKILL: the service finishes nothing. */
  kill(): Promise<void>;
  /** After a kill. Resolves when the service answers. */
  restart(): Promise<void>;
}

export async function openRealStore(): Promise<RealStore> {
  const postgres = await openTemporaryPostgres();
  await migrate(postgres.ownerUrl);
  const database = openStoreDatabase(postgres.url);
  const environment = { DATABASE_URL: postgres.url, LOG_LEVEL: "warn" };
  let service: Service = await startService({ environment });
  return {
    database,
    baseUrl: `${service.origin}/v1`,
    async kill() {
      await service.kill();
    },
    async restart() {
      service = await startService({ environment, port: service.port });
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      await database[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
    },
  };
}
