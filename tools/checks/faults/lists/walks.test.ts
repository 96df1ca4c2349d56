import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openSession } from "@petstore/harness/postgres";
import { inject } from "vitest";
import { type Api, graphql, graphqlCall, rest } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { openConnection } from "../environment/load.js";
import { count, isAcknowledged, isFailure, isUnavailable, type Result } from "../environment/results.js";
import { faultless, type Service } from "../environment/services.js";
import { checkWalks, startWalkers } from "./walkers.js";

const { creates = "1500" } = inject("projectOptions") ?? {};
const killsEveryMs = 500;

it("walks: return each pet once, while writers of every kind pause, roll back and are killed", async ({
  environment,
  figures,
}) => {
  // A killed insert is answered 503.
  environment.allowFailures();
  const { database } = environment;
  await database.execute(pauseFunction);
  await database.execute("create trigger pause after insert on pets for each statement execute function pause()");
  const services = await environment.startServices(faultless, [{ api: rest }, { api: rest }, { api: graphql }]);
  const walkers = await startWalkers(environment, { walkers: 2, limit: 50, pauseMs: 20 });
  const results: Result[] = [];
  environment.keep(results);
  const apiKey = await environment.issueKey();
  let left = Number(creates);
  const takeOne = () => left-- > 0;
  const killing = killInserts(environment, () => left > 0);
  await Promise.all([
    ...services.flatMap((service) => [
      createPlainly(service, apiKey, takeOne, results),
      createWithKey(service, apiKey, takeOne, results),
    ]),
    insertInSessions(environment, takeOne),
    insertInSessions(environment, takeOne),
  ]);
  const killed = await killing;
  await walkers.stop();
  checkWalks(figures, walkers);
  figures.atLeast(Number(creates) / 4, "acknowledged creates with an idempotency key", count(results, isAcknowledged));
  figures.atLeast(1, "inserts killed", killed);
  figures.count(0, "failures other than 503", results.filter(isFailure), (one) => !isUnavailable(one));
  figures.count(0, "lists that failed", walkers.results, isFailure);
});

/** Between the id and the commit, one insert in ten pauses for up to 100 ms. */
const pauseFunction = `
  create function pause() returns trigger language plpgsql as $$ begin
    if random() < 0.1 then perform pg_sleep(random() * 0.1); end if;
    return null;
  end $$`;

type TakeOne = () => boolean;

/** A failure of a create without a key is not repeated: nobody knows whether the pet is stored. */
async function createPlainly(target: Service, apiKey: string, takeOne: TakeOne, results: Result[]): Promise<void> {
  using connection = openConnection();
  while (takeOne()) results.push({ ...(await connection.send(target, plainCreate(target.api), apiKey)), text: "" });
}

function plainCreate(api: Api) {
  if (api === rest)
    return { method: "POST", path: "/v1/pets", headers: json, body: '{"name":"plain","categoryId":1}' } as const;
  return graphqlCall(
    JSON.stringify({ query: 'mutation { createPet(input: { name: "plain", categoryId: "1" }) { id } }' }),
  );
}

const json = { "content-type": "application/json" };

async function createWithKey(target: Service, apiKey: string, takeOne: TakeOne, results: Result[]): Promise<void> {
  using connection = openConnection();
  while (takeOne()) {
    const name = randomUUID();
    for (let isDone = false; !isDone; ) {
      const result = await connection.send(target, target.api.create(name, name), apiKey);
      isDone = target.api.isCreated(result.status, result.text);
      results.push({ ...result, text: "", requestedPet: name, acknowledgedPet: isDone ? name : undefined });
    }
  }
}

/** As an operator with psql: a transaction pauses between its insert and its end, which can be a killed session. */
async function insertInSessions({ database }: Environment, takeOne: TakeOne): Promise<void> {
  const insert = "insert into pets (name, category_id, status) values ('psql', 1, 'sold')";
  const ends = ["commit", "commit", "rollback", "select pg_terminate_backend(pg_backend_pid())"];
  while (takeOne()) {
    await using session = await openSession(database.url);
    for (let transactions = 0; transactions < 20 && takeOne(); transactions += 1) {
      await session.query(`begin; ${insert}`);
      await sleep(Math.random() * Math.random() * 100);
      const end = ends[Math.floor(Math.random() * ends.length)] as string;
      const isAlive = await session.query(end).then(
        () => !end.startsWith("select"),
        () => false,
      );
      if (!isAlive) break;
    }
  }
}

/** Ends a session with an open insert from time to time. */
async function killInserts({ database }: Environment, goesOn: () => boolean): Promise<number> {
  let killed = 0;
  while (goesOn()) {
    await sleep(Math.random() * 2 * killsEveryMs);
    killed += (await database.execute(killOne)).length;
  }
  return killed;
}

const killOne = `
  select pg_terminate_backend(pid) from (
    select pid from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and objid = 730203051 and application_name = 'petstore' and pid <> pg_backend_pid()
    order by random() limit 1
  ) as victim`;
