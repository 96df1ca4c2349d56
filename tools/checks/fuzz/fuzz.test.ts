// @module-tag redis-server
import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { shared } from "@petstore/harness";
import type { Answer } from "@petstore/harness/network";
import { type Figures, it } from "@petstore/harness/test-with-figures";
import fc from "fast-check";
import { buildSchema } from "graphql";
import { expect, inject } from "vitest";
import type { ApiName } from "../conformance/apis/response-faults.js";
import { schemaFile } from "../programs.js";
import { graphqlRequests } from "./arbitraries/graphql-requests.js";
import { type Operation, operation } from "./arbitraries/pets.js";
import { restRequests } from "./arbitraries/rest-requests.js";
import { checkParity, checkRequest, listAll } from "./properties.js";
import { createSession, openFuzzStore, type Session } from "./session.js";

const { requests = "20000", seed = `${randomInt(1_000_000_000)}` } = inject("projectOptions") ?? {};
/** Half of the requests to an API are its own, half are for parity. */
const runs = Math.ceil(Number(requests) / 2);
/** Runs at the same time. Each has its own seed: the sum of the given seed and its index. */
const concurrency = 64;

const store = await shared(openFuzzStore());

it("REST: every response is as the OpenAPI document says", async ({ figures }) => {
  const session = createSession(store);
  const values = restRequests(store.document);
  await checkRandomly(values, (request) => checkRequest(session, "rest", request), "REST");
  countAnswers(session, figures, "rest", 20);
  await expectEveryPet(session);
});

it("GraphQL: every response is as GraphQL over HTTP says", async ({ figures }) => {
  const session = createSession(store);
  const values = graphqlRequests(buildSchema(await readFile(schemaFile, "utf8")));
  await checkRandomly(values, (request) => checkRequest(session, "graphql", request), "GraphQL");
  countAnswers(session, figures, "graphql", 20);
});

it("parity: both APIs give the same answer to the same input", async ({ figures }) => {
  const session = createSession(store);
  await checkRandomly(operation, (one) => checkParity(session, one), "parity");
  countAnswers(session, figures, "rest", 2);
  countAnswers(session, figures, "graphql", 2);
  figures.atLeast(Math.floor(runs / 10), "acknowledged pets", session.pets.size);
  await expectEveryPet(session);
});

const createInRest = /^\/v1\/pets\n/;
const createInGraphql = /createPet/;

it.for<[fault: string, when: RegExp, change: (answer: Answer) => Answer]>([
  ["5xx: 500", createInRest, (answer) => ({ ...answer, status: 500 })],
  ["header: x-ratelimit-remaining is -1", createInRest, withHeader("x-ratelimit-remaining", "-1")],
  ["document: x-new is not described", createInRest, withHeader("x-new", "1")],
  ["document: 9223372036854775808 is no int64", createInRest, withText(/(?<="id":)\d+/, "9223372036854775808")],
  ["body: GraphQL has no stack", createInGraphql, withText(/}$/, ',"stack":""}')],
  ["body: an error is ODD 400", createInGraphql, withText(/VALIDATION_FAILED/, "ODD")],
  ["leak: the response contains a key", createInGraphql, withText(/"code":/, '"key":"pets_live_x","code":')],
  ["create: the response shows", /createPet.*"status":"pending"/s, roundDigits],
  ["parity: REST: success", /petsConnection.*"status":"sold"/s, withText(/"name":"/, '"name":"not ')],
])("finds a fault that is planted behind some inputs: %s", async ([fault, when, change]) => {
  const session = createSession(store, ({ path, body }, answer) =>
    when.test(`${path}\n${body}`) ? change(answer) : answer,
  );
  const check = (given: Operation) => checkParity(session, given);
  await expect(checkRandomly(operation, check, "any", { count: 10_000, firstSeed: 1 })).rejects.toThrow(fault);
});

/**
 * Checks random values. After the first failure, only the failing value is made smaller. Rejects with the first fault and the
 * requests of the smallest failing run, and the command that repeats it.
 *
 * @param name the beginning of the test's title
 */
async function checkRandomly<T>(
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
  name: string,
  { count, firstSeed } = { count: runs, firstSeed: Number(seed) },
): Promise<void> {
  const lanes = Math.min(concurrency, count);
  let failing: number | undefined;
  const assertLane = (lane: number) =>
    fc.assert(
      fc.asyncProperty(values, async (value) => {
        if (failing !== undefined && failing !== lane) return;
        await check(value).catch((error: unknown) => {
          failing ??= lane;
          if (failing === lane) throw error;
        });
      }),
      {
        seed: firstSeed + lane,
        numRuns: Math.ceil(count / lanes),
        reporter({ failed, errorInstance }) {
          const command = `npm run fuzz -- --requests ${2 * count} --name ${name} --seed ${firstSeed + lane}`;
          if (failed) throw new Error(`${errorInstance}\nTo repeat it: ${command}`);
        },
      },
    );
  await Promise.all(Array.from({ length: lanes }, (_, lane) => assertLane(lane)));
}

function countAnswers({ answers }: Session, figures: Figures, api: ApiName, fewestKinds: number): void {
  figures.atLeast(runs, `answers of ${api} with the seed ${seed}`, answers[api].length);
  const kinds = new Set(answers[api]).size;
  figures.atLeast(runs < 2_000 ? 1 : fewestKinds, `different statuses and codes of ${api}`, kinds);
}

/** Both APIs list every acknowledged pet with all digits. */
async function expectEveryPet(session: Session): Promise<void> {
  for (const api of ["rest", "graphql"] as const) {
    const listed = new Map((await listAll(session, api)).map((pet) => [pet.id, pet]));
    for (const [id, pet] of session.pets) expect(listed.get(id)).toEqual(pet);
  }
}

function withHeader(name: string, value: string): (answer: Answer) => Answer {
  return (answer) => ({ ...answer, headers: { ...answer.headers, [name]: value } });
}

function withText(part: RegExp, other: string): (answer: Answer) => Answer {
  return (answer) => ({ ...answer, text: answer.text.replace(part, other) });
}

/** As a parser that rounds numbers would. */
function roundDigits(answer: Answer): Answer {
  const round = (_all: string, start: string, digits: string) => start + BigInt(Number(digits));
  return { ...answer, text: answer.text.replaceAll(/("categoryId":"?)(-?\d{17,})/g, round) };
}
