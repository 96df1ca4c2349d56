// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { createPetStoreClient, PetStoreError } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import { twoOfEach } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { checkAdmitted } from "../environment/measures.js";
import { isBanned } from "../environment/results.js";
import { slowRedisAllowed, twoRest } from "../environment/services.js";

it("shared-exactly: 4 processes admit exactly 1,000 of 10,000 requests, 50 times", async ({ environment, figures }) => {
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 50, limit: 1_000, clients: 200, requests: 10_000 });
});

it("limit-1: 4 processes admit exactly 1 of 1,000 simultaneous requests, 5 times", async ({ environment, figures }) => {
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  await checkAdmitted(environment, figures, { accounts: 5, limit: 1, clients: 1_000, requests: 1_000 });
});

const fleetSizes = [40, 100];
const fleetMs = 120_000;
/** The programs of a fleet together want about three times the limit of Free. */
const requestsPerMinute = 180;
/** A fleet with this many refusals has programs that wait at different times. */
const refusalsAtLeast = 50;
const loopMs = 12_000;

it("honest-fleet: bans none of 40 and 100 programs that honour Retry-After", async ({ environment, figures }) => {
  await environment.startWithRedis({ ...slowRedisAllowed, BAN_STRIKES: "120" }, twoRest);
  const fleets = await Promise.all(fleetSizes.map((size) => runFleet(environment, size)));
  for (const { size, granted, refused, bans } of fleets) {
    figures.exactly(0, `${size} programs: responses that report a ban`, bans);
    figures.atLeast(refusalsAtLeast, `${size} programs: refusals`, refused);
    figures.atLeast(60, `${size} programs: granted requests`, granted);
  }
  figures.atMost(10, "a loop that ignores 429: banned after", await loopSeconds(environment), "s");
  environment.checkAlive();
});

interface FleetCounts {
  readonly size: number;
  granted: number;
  refused: number;
  bans: number;
}

/** The programs do not know of each other. Each has its own client of ours. */
async function runFleet({ issueKey, services }: Environment, size: number): Promise<FleetCounts> {
  const apiKey = await issueKey(limitsOf({ plan: "free" }));
  const counts: FleetCounts = { size, granted: 0, refused: 0, bans: 0 };
  const pauseMs = (60_000 * size) / requestsPerMinute;
  const programs = Array.from({ length: size }, async (_, program) => {
    const signal = AbortSignal.timeout(fleetMs);
    const origin = services[program % services.length]?.origin;
    const client = createPetStoreClient({ baseUrl: `${origin}/v1`, apiKey, fetch: countingFetch(counts) });
    // A program continues if its wait is longer than its client allows, or if the run ends during the wait.
    const ignoreRefusal = (error: unknown) => {
      if (!signal.aborted && !(error instanceof PetStoreError)) throw error;
    };
    while (!signal.aborted) {
      await sleep(2 * pauseMs * Math.random(), undefined, { signal }).catch(ignoreRefusal);
      await client.pets.list({ signal }).catch(ignoreRefusal);
    }
  });
  await Promise.all(programs);
  return counts;
}

function countingFetch(counts: FleetCounts): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const text = await response.text();
    if (response.status === 429) counts.refused += 1;
    if (response.ok) counts.granted += 1;
    if (text.includes('"API_KEY_BANNED"')) counts.bans += 1;
    return new Response(text, { status: response.status, headers: response.headers });
  };
}

/** The seconds until a loop of more than 100 requests/s is banned. */
async function loopSeconds(environment: Environment): Promise<number> {
  const load = await environment.startLoad({ limits: limitsOf({ plan: "free" }), clients: 8, pauseMs: 10 });
  await sleep(loopMs);
  await load.stop();
  const firstMs = Math.min(...load.results.map(({ sentAtMs }) => sentAtMs));
  const bannedMs = Math.min(...load.results.filter(isBanned).map(({ sentAtMs }) => sentAtMs));
  return (bannedMs - firstMs) / 1_000;
}
