/**
 * Clients that read all pets page by page, again and again, while pets are created. Each walk must return every pet that was
 * settled before it began, once and in ascending order.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createPetStoreClient } from "@petstore/client";
import { type HttpAnswer, nowMs, openHttpClient } from "@petstore/harness/network";
import type { Figures } from "@petstore/harness/test-with-figures";
import type { StoreDatabase } from "@petstore/test-store/store-database";
import { rest } from "../environment/apis.js";
import type { Environment } from "../environment/environment.js";
import type { Target } from "../environment/load.js";
import { isSuccess, noAnswer, type Result, resultOf } from "../environment/results.js";

interface WalkersOptions {
  /** The pages of one walk come from these in turn. All by default. */
  readonly targets?: readonly Target[];
  /** The pets of a page. */
  readonly limit: number;
  /** Of each kind. */
  readonly walkers: number;
  readonly kinds?: readonly Kind[];
  /** Before each walk, on average, except the last one. */
  readonly pauseMs?: number;
}

/**
 * - all over REST, all over GraphQL: begins with the first page, and continues from the `next` link or from `endCursor`.
 * - client: the same with our client.
 * - tail: continues over REST from the last `next` link of the walk before.
 * - follower: continues over GraphQL from the last `endCursor`, which the last page has, too.
 */
type Kind = "all over REST" | "all over GraphQL" | "client" | "tail" | "follower";

const kinds: readonly Kind[] = ["all over REST", "all over GraphQL", "client", "tail", "follower"];

export interface Walkers {
  /** The answers to the requests for pages, without their texts. The client has its own connections. */
  readonly results: readonly Result[];
  readonly walks: ReadonlyMap<Kind, number>;
  /** Each pet that a walk did not return as it must. */
  readonly faults: readonly WalkFault[];
  /** Walks that ended early, because an insert stayed open for 0.9 s. They lack only pets that were not settled. */
  shortened(): number;
  /** Resolves when each walker has ended its walk and one more. */
  stop(): Promise<void>;
}

interface WalkFault {
  readonly kind: Kind;
  readonly id: number;
  readonly what: "missing" | "passed" | "not ascending" | "not stored";
}

interface Page {
  readonly ids: readonly number[];
  /** Leads to the next page; `undefined` on the last one. */
  readonly next: string | undefined;
  /** From here, a later walk may continue after this page. */
  readonly kept: string | undefined;
}

/** `undefined`: the request failed, and may be repeated. */
type ReadPage = (cursor: string | undefined) => Promise<Page | undefined>;

const retryPauseMs = 50;
/** A page waits for 0.9 s before it ends a walk early. */
const waitedInVainMs = 850;

/** Call it after the services have started. */
export async function startWalkers(environment: Environment, options: WalkersOptions): Promise<Walkers> {
  const { walkers, kinds: chosen = kinds, limit, pauseMs = 0, targets = environment.services } = options;
  const { database } = environment;
  const apiKey = await environment.issueKey();
  const results: Result[] = [];
  const walks = new Map(chosen.map((kind) => [kind, 0]));
  const faults: WalkFault[] = [];
  let isStopped = false;
  let shortened = 0;
  environment.keep(results);

  function readerOf(kind: Kind, place: number): ReadPage {
    const own = targets.filter(
      ({ api }) => (api.name === rest.name) === (kind !== "all over GraphQL" && kind !== "follower"),
    );
    if (own.length === 0) throw new Error(`no service for ${kind}`);
    const readers = own.map(({ origin }) => {
      if (kind === "client") return readPagesWithClient(`${origin}/v1`, apiKey, limit);
      const send = openSender(origin, apiKey, results);
      return kind === "all over GraphQL" || kind === "follower"
        ? readPagesOverGraphql(send, limit)
        : readPagesOverRest(send, limit);
    });
    let turn = place;
    return (cursor) => {
      turn += 1;
      return (readers[turn % readers.length] as ReadPage)(cursor);
    };
  }

  async function walkAgainAndAgain(kind: Kind, place: number): Promise<void> {
    const readPage = readerOf(kind, place);
    const continues = kind === "tail" || kind === "follower";
    /** The pets before the kept cursor. */
    const passed: number[] = [];
    let kept: string | undefined;
    await sleep(Math.random() * 2 * pauseMs);
    for (let isLast = false; !isLast; ) {
      // The last walk begins after the last create.
      isLast = isStopped;
      const before = await storedAfter(database, passed.at(-1) ?? 0);
      const found: number[] = [];
      let keptIds = 0;
      let lastMs = 0;
      for (let cursor = kept, isEnd = false; !isEnd; ) {
        const startedAtMs = nowMs();
        const page = await retry(() => readPage(cursor));
        lastMs = nowMs() - startedAtMs;
        found.push(...page.ids);
        if (continues && page.kept !== undefined) [kept, keptIds] = [page.kept, found.length];
        cursor = page.next;
        isEnd = cursor === undefined;
      }
      const missing = missingIn(found, before);
      const last = found.at(-1) ?? passed.at(-1) ?? 0;
      const isShortened = lastMs >= waitedInVainMs && missing.every((id) => id > last);
      if (isShortened && missing.length > 0) shortened += 1;
      else note(kind, "missing", missing);
      note(kind, "not ascending", notAscending([...passed.slice(-1), ...found]));
      if (isLast) {
        const walked = [...passed, ...found];
        const stored = await storedAfter(database, 0);
        note(kind, "passed", missingIn(walked, stored));
        note(kind, "not stored", missingIn(stored, walked));
      }
      passed.push(...found.slice(0, keptIds));
      walks.set(kind, (walks.get(kind) ?? 0) + 1);
      if (!isLast && pauseMs > 0) await sleep(Math.random() * 2 * pauseMs);
    }
  }

  function note(kind: Kind, what: WalkFault["what"], ids: readonly number[]): void {
    faults.push(...ids.map((id) => ({ kind, id, what })));
  }

  const done = Promise.all(
    chosen.flatMap((kind) => Array.from({ length: walkers }, (_, place) => walkAgainAndAgain(kind, place))),
  ).then(() => {});
  // Rejects in `stop`, too.
  done.catch(() => {});
  return {
    results,
    walks,
    faults,
    shortened: () => shortened,
    stop() {
      isStopped = true;
      return done;
    },
  };
}

/** No walk lost, repeated or invented a pet. */
export function checkWalks(figures: Figures, { walks, faults }: Walkers, atLeast = 2): void {
  for (const [kind, number] of walks) figures.atLeast(atLeast, `walks: ${kind}`, number);
  for (const what of ["missing", "passed", "not ascending", "not stored"] as const) {
    const found = faults.filter((fault) => fault.what === what);
    const examples = found.slice(0, 5).map(({ kind, id }) => `${kind}: ${id}`);
    const name = `pets of walks that are ${what}`;
    figures.exactly(0, examples.length === 0 ? name : `${name} (${examples.join(", ")})`, found.length);
  }
}

function readPagesOverRest(send: Send, limit: number): ReadPage {
  return async (cursor) => {
    const path = cursor ?? `/v1/pets?limit=${limit}`;
    const answer = await send("GET", path);
    if (answer === undefined) return undefined;
    const link = /<([^>]+)>; rel="next"/.exec(answer.headers.link ?? "")?.[1];
    const next = link && new URL(link, "http://any.example");
    const nextPath = next && `${next.pathname}${next.search}`;
    const ids = (JSON.parse(answer.text) as readonly { readonly id: number }[]).map(({ id }) => id);
    return { ids, next: nextPath, kept: nextPath };
  };
}

const connectionQuery = `query Walk($first: Int!, $after: String) {
  petsConnection(first: $first, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } }
}`;

interface Connection {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

function readPagesOverGraphql(send: Send, first: number): ReadPage {
  return async (after) => {
    const answer = await send(
      "POST",
      "/graphql",
      JSON.stringify({ query: connectionQuery, variables: { first, after } }),
    );
    if (answer === undefined) return undefined;
    const { data } = JSON.parse(answer.text) as { readonly data: { readonly petsConnection: Connection } };
    const { nodes, pageInfo } = data.petsConnection;
    const end = pageInfo.endCursor ?? undefined;
    return { ids: nodes.map(({ id }) => Number(id)), next: pageInfo.hasNextPage ? end : undefined, kept: end };
  };
}

/** The client repeats failed requests itself. */
function readPagesWithClient(baseUrl: string, apiKey: string, limit: number): ReadPage {
  const client = createPetStoreClient({ baseUrl, apiKey, maxRetries: 20 });
  return async (cursor) => {
    const { pets, nextCursor } = await client.pets.list({ limit, cursor });
    return { ids: pets.map(({ id }) => Number(id)), next: nextCursor, kept: nextCursor };
  };
}

/** `undefined` if the request failed. */
type Send = (method: "GET" | "POST", path: string, body?: string) => Promise<HttpAnswer | undefined>;

function openSender(origin: string, apiKey: string, results: Result[]): Send {
  const client = openHttpClient(origin);
  return async (method, path, body) => {
    const sentAtMs = nowMs();
    try {
      const answer = await client.send(method, path, { key: apiKey, ...(body !== undefined && { body }) });
      const result = resultOf(answer);
      // The texts of all pages would fill the memory.
      results.push({ ...result, text: "" });
      return isSuccess(result) ? answer : undefined;
    } catch (error) {
      results.push(noAnswer(sentAtMs, String(error)));
      return undefined;
    }
  };
}

async function retry<Found>(attempt: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    await sleep(retryPauseMs);
  }
}

/** The ids of the pets after this id. Waits until PostgreSQL is available. */
function storedAfter(database: StoreDatabase, id: number): Promise<readonly number[]> {
  const text = `select coalesce(string_agg(id::text, ',' order by id), '') as ids from pets where id > ${id}`;
  return retry(async () => {
    const rows = await database.execute(text).catch(() => undefined);
    const [row] = (rows ?? []) as readonly { readonly ids: string }[];
    return row?.ids.split(",").filter(Boolean).map(Number);
  });
}

function missingIn(found: readonly number[], expected: readonly number[]): readonly number[] {
  const all = new Set(found);
  return expected.filter((id) => !all.has(id));
}

function notAscending(ids: readonly number[]): readonly number[] {
  return ids.filter((id, place) => place > 0 && id <= (ids[place - 1] as number));
}
