import { choosePort } from "@petstore/embedded-postgres";
import type { Benchmark, Measured, RunOptions } from "./benchmark.js";
import { makeLoad } from "./load/load.js";
import { browse } from "./load/workload.js";
import { measureRounds } from "./rounds.js";
import { openEnvironment } from "./servers/environment.js";
import { petstoreGraphql, petstoreRest, type ServerProgram } from "./servers/server-programs.js";

const programs = [petstoreRest, petstoreGraphql];
const connections = 32;
/** 90 % of the requests of the workload are lists, and the others are creates of one statement each. */
const listShare = 0.9;

/** How much of the work of a list reaches PostgreSQL. Statements that settle ids and look up keys count, too. */
export const statements: Benchmark = {
  name: "statements",
  summary: "SQL statements for each list of the browse workload, at 32 connections, after a warm-up",
  targets: programs.map(({ name: of }) => ({ measure: "SQL statements/list", of, atMost: 0.3 })),
  rounds: 1,
  async run(options) {
    await using environment = await openEnvironment();
    const measure = async (program: ServerProgram): Promise<Measured> => {
      const metricsPort = `${await choosePort(undefined)}`;
      const measured = { ...program, environment: { ...program.environment, METRICS_PORT: metricsPort } };
      await using server = await environment.openServer(measured, browse);
      const load: RunOptions = { ...options, connections };
      await makeLoad({ ...server, ...load });
      const before = await statementsOf(metricsPort);
      const { requests } = await makeLoad({ ...server, ...load });
      const sent = (await statementsOf(metricsPort)) - before;
      const lists = requests * listShare;
      const creates = requests - lists;
      return { "SQL statements/list": (sent - creates) / lists };
    };
    return await measureRounds(programs, options.rounds, measure, { warmUp: false });
  },
};

/** How many statements the service has sent to PostgreSQL since its start, from its metrics. */
async function statementsOf(metricsPort: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const lines = (await response.text()).split("\n");
  const counts = lines.filter((line) => /^db_client_operation_duration_seconds_count\{.*"postgresql"/.test(line));
  if (counts.length === 0) throw new Error("the metrics have no count of statements");
  return counts.reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
}
