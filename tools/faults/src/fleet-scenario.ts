import { setTimeout as sleep } from "node:timers/promises";
import { createPetStoreClient, PetStoreError } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import { openRedisServer } from "@petstore/harness/redis";
import { patient } from "./environment.js";
import { isBanned } from "./exchange.js";
import { atLeast, atMost, checkAlive, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import type { Services, Stage } from "./stage.js";

const fleetSizes = [40, 100];
const fleetMs = 120_000;
/** All programs of a fleet together want about three times what Free grants. */
const requestsPerMinute = 180;
/** Each fleet has at least this many refusals, so that its programs are told to wait at different times. */
const refusalsAtLeast = 50;
const loopMs = 12_000;
const loopBannedWithinSeconds = 10;

/** Programs that know nothing of each other share a key; each has its own client, which honours Retry-After. */
export const fleetScenario: Scenario = {
  group: "redis",
  needs: ["redis-server"],
  name: "honest-fleet",
  cause: `${fleetSizes.join(" and ")} programs, each with our client, share one Free key for ${fleetMs / 60_000} minutes; then a loop ignores 429`,
  expected: `0 bans of the fleets; the loop is banned within ${loopBannedWithinSeconds} s`,
  async run(stage) {
    const redis = stage.use(await openRedisServer());
    const services = await stage.startServices([redis.url], { ...patient, BAN_STRIKES: "120" });
    const fleets = await Promise.all(fleetSizes.map((size) => runFleet(stage, services, size)));
    return [
      ...fleets.flatMap(({ size, granted, refused, bans }) => [
        exactly(0, `${size} programs: responses that tell of a ban`, bans),
        atLeast(refusalsAtLeast, `${size} programs: refusals`, refused),
        atLeast(60, `${size} programs: granted requests`, granted),
      ]),
      atMost(loopBannedWithinSeconds, "the loop: banned after", await loopSeconds(stage), "s"),
      ...checkAlive(services),
    ];
  },
};

interface FleetCounts {
  readonly size: number;
  granted: number;
  refused: number;
  bans: number;
}

async function runFleet(stage: Stage, services: Services, size: number): Promise<FleetCounts> {
  const { apiKey } = await stage.store.issueKey(limitsOf({ plan: "free" }));
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

/** How long a loop of more than 100 requests/s calls until its key is banned. */
async function loopSeconds(stage: Stage): Promise<number> {
  const load = await stage.load({ limits: limitsOf({ plan: "free" }), callers: 8, pauseMs: 10 });
  await sleep(loopMs);
  await load.stop();
  const firstMs = Math.min(...load.exchanges.map(({ sentAtMs }) => sentAtMs));
  const bannedMs = Math.min(...load.exchanges.filter(isBanned).map(({ sentAtMs }) => sentAtMs));
  return (bannedMs - firstMs) / 1_000;
}
