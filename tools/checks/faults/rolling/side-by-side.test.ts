// What one release has begun, the other one continues. Services of the last release and of this version run on one PostgreSQL and
// one Redis, under load.
// @module-tag redis-server
// @module-tag git
// @module-tag tar
import { randomUUID } from "node:crypto";
import { createPetStoreClient } from "@petstore/client";
import { type HttpAnswer, type HttpRequest, openHttpClient } from "@petstore/harness/network";
import { expect } from "vitest";
import { type Api, apis, graphqlCall, rest } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { isUnserved, type Result, resultOf } from "../environment/results.js";
import { faultless, type Service, type Settings } from "../environment/services.js";
import { checkWalks, startWalkers } from "../lists/walkers.js";
import { openLastRelease, type Release } from "./last-release.js";

/** A service that begins something, and one of the other release that continues it. */
interface Way {
  readonly name: string;
  readonly from: Service;
  readonly to: Service;
}

const replayed = "idempotency-replayed";
const lightLoad = { clients: 8, pauseMs: 20 };

it("rolling-upgrade: each release replays the creates of the other, in both APIs", async ({
  environment,
  figures,
  skip,
}) => {
  const ways = await startBoth(environment, await openLastRelease(skip));
  const load = await environment.startLoad(lightLoad);
  const send = openSender(environment, await environment.issueKey());
  const names: string[] = [];
  for (const { name, from, to } of ways) {
    const pet = randomUUID();
    names.push(pet);
    const first = await send(from, from.api.create(pet, pet));
    const repeated = await send(to, to.api.create(pet, pet));
    const other = await send(to, to.api.create(`not ${pet}`, pet));
    const isCreated = [from.api.isCreated(first.status, first.text), to.api.isCreated(repeated.status, repeated.text)];
    expect(isCreated, name).toEqual([true, true]);
    expect([first.headers[replayed], repeated.headers[replayed]], name).toEqual([undefined, "true"]);
    expect(idOf(repeated), name).toBe(idOf(first));
    if (to.api.name === from.api.name) expect(repeated.text, name).toBe(first.text);
    expect(other.code, name).toBe("IDEMPOTENCY_KEY_REUSED");
  }

  const raced = randomUUID();
  names.push(raced);
  const inTurn = Array.from({ length: 10 }, () => environment.services).flat();
  const answers = await Promise.all(inTurn.map((service) => send(service, service.api.create(raced, raced))));
  await load.stop();
  const stored = await environment.database.countByName(names);
  figures.exactly(1, "pets in 40 answers to creates at one moment", new Set(answers.map(idOf)).size);
  figures.count(1, "of these answers, no replays", answers, ({ headers }) => headers[replayed] === undefined);
  figures.count(0, "idempotency keys without exactly one pet", names, (name) => stored.get(name) !== 1);
  figures.count(0, "answers of the load other than 200 and 201", load.results, isUnserved);
});

/** The load only lists: version 1.1.0 does not wait for inserts in progress, so a walk through its pages could miss a new pet. */
it("rolling-upgrade: each release continues from the cursors of the other, in both APIs", async ({
  environment,
  figures,
  skip,
}) => {
  const ways = await startBoth(environment, await openLastRelease(skip));
  const sold = await addSoldPets(environment);
  const load = await environment.startLoad({ ...lightLoad, call: ({ list }) => list });
  // The pages of each walk come from both releases in turn.
  const walkers = await startWalkers(environment, { walkers: 2, limit: 7, pauseMs: 50 });
  const send = openSender(environment, await environment.issueKey());
  for (const { name, from, to } of ways) {
    const first = pageIn(await send(from, listOf(from.api, "sold")));
    const second = pageIn(await send(to, listOf(to.api, "sold", first.cursor)));
    const refused = await send(to, listOf(to.api, "pending", first.cursor));
    expect([...first.ids, ...second.ids], name).toEqual(sold.slice(0, 2 * petsOfPage));
    expect(refused.code, name).toBe("INVALID_CURSOR");
  }
  await walkers.stop();
  await load.stop();
  checkWalks(figures, walkers);
  figures.count(0, "answers of the load other than 200 and 201", load.results, isUnserved);
});

it("rolling-upgrade: a ban that one release begins holds at the other, until the same time", async ({
  environment,
  figures,
  skip,
}) => {
  const bans = { BAN_STRIKES: "20", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0", BAN_FIRST_MS: "600000" };
  const ways = await startBoth(environment, await openLastRelease(skip), bans);
  const load = await environment.startLoad(lightLoad);
  for (const { name, from, to } of ways) {
    const send = openSender(environment, await environment.issueKey({ perMinute: 1_000, perDay: 1 }));
    const codes: (string | undefined)[] = [];
    let begun: HttpAnswer;
    do {
      begun = await send(from, from.api.list);
      codes.push(begun.code);
    } while (begun.code !== "API_KEY_BANNED" && codes.length < 200);
    const seen = await send(to, to.api.list);
    expect(codes.slice(0, 2), name).toEqual([undefined, "DAILY_QUOTA_EXCEEDED"]);
    expect(
      [begun, seen].map(({ status, code }) => `${status} ${code}`),
      name,
    ).toEqual(Array(2).fill("429 API_KEY_BANNED"));
    const differenceMs = Math.abs(retryAtMs(seen) - retryAtMs(begun));
    figures.atMost(5_000, `difference of the ends, ${name}`, differenceMs, "ms");
  }
  await load.stop();
  figures.count(0, "answers of the load other than 200 and 201", load.results, isUnserved);
});

it("rolling-upgrade: the client of each release lists, creates and is refused by services of both", async ({
  environment,
  figures,
  skip,
}) => {
  const release = await openLastRelease(skip);
  await startBoth(environment, release);
  const sold = await addSoldPets(environment);
  const load = await environment.startLoad(lightLoad);
  const clients = [
    { of: "this version", createClient: createPetStoreClient },
    { of: release.version, createClient: release.createPetStoreClient },
  ];
  const services = environment.services.filter(({ api }) => api.name === rest.name);
  const pairs = clients.flatMap((client) => services.map((service) => ({ ...client, service })));
  figures.exactly(4, "clients with a service each", pairs.length);
  for (const { of, createClient, service } of pairs) {
    const name = `the client of ${of}, the service ${apis.includes(service.api) ? "of this version" : release.version}`;
    const baseUrl = `${service.origin}/v1`;
    const { pets } = createClient({ baseUrl, apiKey: await environment.issueKey() });
    const listed: string[] = [];
    for await (const { id } of pets.all({ status: "sold", limit: 7 })) listed.push(`${id}`);
    expect(listed, name).toEqual(sold);

    const pet = { name: randomUUID(), categoryId: 9_007_199_254_740_993n };
    const created = await pets.create(pet, { idempotencyKey: pet.name });
    expect(created, name).toMatchObject({ ...pet, status: "available" });
    expect(await pets.create(pet, { idempotencyKey: pet.name }), name).toEqual(created);
    expect((await environment.database.countByName([pet.name])).get(pet.name), name).toBe(1);

    const apiKey = await environment.issueKey({ perMinute: 1_000, perDay: 1 });
    await openSender(environment, apiKey)(service, service.api.list);
    // The wait until the end of the day is longer than the client waits by default.
    const refusal = { name: "PetStoreError", code: "DAILY_QUOTA_EXCEEDED", status: 429, retryAt: expect.any(Date) };
    await expect(createClient({ baseUrl, apiKey }).pets.list(), name).rejects.toMatchObject(refusal);
  }
  await load.stop();
  figures.count(0, "answers of the load other than 200 and 201", load.results, isUnserved);
});

/** Returns both directions, from each API to each API: eight ways. */
async function startBoth(environment: Environment, release: Release, settings: Settings = {}): Promise<readonly Way[]> {
  const instances = [...release.apis, ...apis].map((api) => ({ api }));
  await environment.startWithRedis({ ...faultless, ...settings }, instances);
  const { services } = environment;
  const isCurrent = ({ api }: Service) => apis.includes(api);
  const nameOf = (service: Service) =>
    `${service.api.name} ${isCurrent(service) ? "of this version" : release.version}`;
  return services.flatMap((from) => {
    const others = services.filter((to) => isCurrent(to) !== isCurrent(from));
    return others.map((to) => ({ name: `from ${nameOf(from)} to ${nameOf(to)}`, from, to }));
  });
}

type Send = (service: Service, call: HttpRequest) => Promise<HttpAnswer>;

/** Sends requests with this API key, on connections of their own, and gives the answers to the oracles. */
function openSender(environment: Environment, key: string): Send {
  const results: Result[] = [];
  environment.keep(results);
  return async ({ origin }, { method, path, headers = {}, body }) => {
    using client = openHttpClient(origin);
    const answer = await client.send(method, path, { key, headers, ...(body !== undefined && { body }) });
    results.push(resultOf(answer));
    return answer;
  };
}

/** Returns their ids. The load creates no pets with this status. */
async function addSoldPets({ database }: Environment): Promise<readonly string[]> {
  const rows = await database.execute(
    `insert into pets (name, category_id, status)
     select 'sold ' || number, number, 'sold' from generate_series(1, 40) as number returning id::text`,
  );
  return (rows as readonly { readonly id: string }[]).map(({ id }) => id);
}

const petsOfPage = 3;

function listOf(api: Api, status: string, cursor?: string): HttpRequest {
  if (api.name === rest.name) {
    const query = new URLSearchParams({ limit: `${petsOfPage}`, status, ...(cursor !== undefined && { cursor }) });
    return { method: "GET", path: `/v1/pets?${query}` };
  }
  const query = `query Page($after: String) {
    petsConnection(first: ${petsOfPage}, status: ${status}, after: $after) { nodes { id } pageInfo { endCursor } }
  }`;
  return graphqlCall(JSON.stringify({ query, variables: { after: cursor } }));
}

/** The ids of a page of either API, and the cursor after it. */
function pageIn({ text, headers }: HttpAnswer): { readonly ids: readonly string[]; readonly cursor: string } {
  const ids = [...text.matchAll(/"id":"?(\d+)/g)].map(([, id = ""]) => id);
  const [, cursor] = /[?&]cursor=([\w-]+)/.exec(headers.link ?? "") ?? /"endCursor":"([\w-]+)"/.exec(text) ?? [];
  if (cursor === undefined) throw new Error(`no cursor in ${text}`);
  return { ids, cursor };
}

/** The id of the pet in an answer of either API. */
function idOf({ text }: HttpAnswer): string | undefined {
  return /"id":"?(\d+)/.exec(text)?.[1];
}

function retryAtMs({ sentAtMs, durationMs, retryAfterSeconds }: HttpAnswer): number {
  return sentAtMs + durationMs + 1_000 * retryAfterSeconds;
}
