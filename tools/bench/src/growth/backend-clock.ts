import { readFile } from "node:fs/promises";
import pg from "pg";

/** Reads the processor time of the PostgreSQL processes that serve a database's services. */
export interface BackendClock extends AsyncDisposable {
  cpuMicroseconds(): Promise<number>;
}

/** Rejects where the system does not tell, which only Linux does. */
export async function openBackendClock(databaseUrl: string): Promise<BackendClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const clock: BackendClock = {
    async cpuMicroseconds() {
      const { rows } = await client.query<{ readonly pid: number }>(
        "select pid from pg_stat_activity where datname = current_database() and application_name = 'petstore'",
      );
      const times = await Promise.all(rows.map(({ pid }) => cpuMicrosecondsOf(pid)));
      return times.reduce((total, time) => total + time, 0);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
  try {
    await cpuMicrosecondsOf(process.pid);
  } catch (cause) {
    await client.end();
    throw new Error("The processor time of PostgreSQL is read from /proc/<pid>/schedstat, which is not there", {
      cause,
    });
  }
  return clock;
}

/** A server process of PostgreSQL has one thread, and that is the one counted here: in nanoseconds, not in ticks. */
async function cpuMicrosecondsOf(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
  return Number(nanoseconds) / 1_000;
}
