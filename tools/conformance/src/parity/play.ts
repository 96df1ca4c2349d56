import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Limits, mintApiKey } from "@petstore/core";
import type { Answer, Api, ApiName } from "../apis/api.js";
import type { Check } from "../section.js";
import { currentMinute } from "../stage.js";
import type { Store } from "../store.js";
import { compare } from "./compare.js";
import { type Facts, factsOf } from "./facts.js";
import type { KeyKind, Known, Scenario, Step } from "./scenario.js";

export interface Surroundings {
  readonly store: Pick<Store, "openAccount">;
  /** The first is what the others are compared with. */
  readonly apis: readonly Api[];
  readonly known: Known;
  issueKey(kind: KeyKind, limits: Limits, api: Api): Promise<string | undefined>;
}

export const roomy: Limits = { perMinute: 1_000, perDay: 10_000 };

/** Windows end while rows are played; a row that began in one minute and ended in the next is played anew. */
const attempts = 3;

export interface PlayedScenario extends Check {
  /** What each API, the first apart, has answered and was compared with: those without a way to ask are not there. */
  readonly compared: ReadonlyMap<ApiName, number>;
}

export async function play(scenario: Scenario, surroundings: Surroundings): Promise<PlayedScenario> {
  for (let attempt = 1; ; attempt += 1) {
    const minute = currentMinute();
    const check = await playOnce(scenario, surroundings);
    if (currentMinute() === minute || attempt === attempts) return check;
  }
}

async function playOnce(scenario: Scenario, surroundings: Surroundings): Promise<PlayedScenario> {
  const { name } = scenario;
  const differences: string[] = [];
  const byDesign: string[] = [];
  const compared = new Map<ApiName, number>();
  let reference: readonly Facts[] = [];
  for (const api of surroundings.apis) {
    const at = (index: number) => (scenario.steps.length === 1 ? "" : `step ${index + 1}: `);
    try {
      const facts = await playThrough(api, scenario, surroundings);
      if (facts === undefined) continue;
      if (reference.length === 0) reference = facts;
      else {
        for (const [index, step] of scenario.steps.entries()) {
          const [expected, said] = [reference[index], facts[index]];
          if (expected === undefined || said === undefined) continue;
          compared.set(api.name, (compared.get(api.name) ?? 0) + 1);
          const comparison = compare(expected, said, api.name, step.byDesign);
          differences.push(...comparison.differences.map((difference) => at(index) + difference));
          byDesign.push(...comparison.met.map(({ reason }) => reason));
        }
      }
    } catch (error) {
      // The row counts as different; the others are still played.
      differences.push(`${api.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { name, differences, compared, ...(byDesign.length > 0 && { byDesign: [...new Set(byDesign)] }) };
}

/**
 * The facts of every step; `undefined` where the API has no way to ask one of them. Throws when an answer is not what
 * the row expects of every API.
 */
async function playThrough(
  api: Api,
  { limits = roomy, key: kind = "valid", steps, holds }: Scenario,
  { known, issueKey }: Surroundings,
): Promise<Facts[] | undefined> {
  const key = await issueKey(kind, limits, api);
  const address = newAddress();
  const answers: Answer[] = [];
  const facts: Facts[] = [];
  for (const step of steps) {
    if (step.waitMs !== undefined) await sleep(step.waitMs);
    const operation = typeof step.operation === "function" ? step.operation(known) : step.operation;
    const answer = await api.send({ ...step, operation, authorization: authorizationOf(step, key), address });
    if (answer === undefined) return undefined;
    facts.push(factsOf(answer, operation.kind === "create"));
    const expected = expectedOf(step, api);
    const said = answer.outcome.kind === "success" ? "success" : answer.outcome.code;
    if (said !== expected) throw new Error(`${said} where the row expects ${expected}`);
    answers.push(answer);
  }
  const complaint = holds?.(answers);
  if (complaint !== undefined) throw new Error(complaint);
  return facts;
}

function expectedOf({ expected, byDesign = [] }: Step, api: Api): string {
  const own = byDesign.filter((one) => one.api === api.name);
  if (own.some(({ fact, value }) => fact === "outcome" && value === "success")) return "success";
  return own.find(({ fact }) => fact === "code")?.value ?? expected;
}

function authorizationOf({ authorization }: Step, key: string | undefined): readonly string[] {
  if (authorization !== undefined) return authorization(key ?? "");
  return key === undefined ? [] : [`Bearer ${key}`];
}

/** A key of that kind, of an account of its own where it has one. */
export async function issueKey(
  kind: KeyKind,
  limits: Limits,
  store: Surroundings["store"],
): Promise<string | undefined> {
  switch (kind) {
    case "none":
      return undefined;
    case "malformed":
      return "pets_test_nonsense";
    case "unknown":
      return mintApiKey("test", randomBytes);
    case "valid":
    case "revoked":
    case "expired":
      return (await store.openAccount(limits)).issueKey(kind);
  }
}

/** An address nobody has called from: its requests without a valid key are counted apart from all others. */
export function newAddress(): string {
  const [network, subnet] = randomUUID().split("-");
  return `2001:db8:${network?.slice(0, 4)}:${subnet}::1`;
}
