import {
  type Account,
  type KeyPenalty,
  type KeyRecord,
  type KeyRepository,
  limitsOf,
  maxPenalties,
} from "@petstore/core";
import type { CommandContext, OpenedDatabase } from "./command-context.js";
import { askInstances, counterOf, type InstanceResponses, missingResponses } from "./instances.js";

/** What the running instances know of the usage of an account, and of the bans and strikes of its keys. */
export interface AccountState extends InstanceResponses {
  /** `key` is a lineage. Instances that do not share a Redis may each have a penalty for it. */
  readonly penalties: readonly CountedPenalty[];
  /** Why a key may have bans or strikes that are not in `penalties`. `undefined` if none can be missing. */
  readonly gap: string | undefined;
}

interface CountedPenalty extends KeyPenalty {
  /** Redis, or the instance that counted. */
  readonly by: string;
}

export async function readAccountState(
  { directUrl, keys: repository }: OpenedDatabase,
  context: CommandContext,
  account: Account,
  keys: readonly KeyRecord[],
): Promise<AccountState> {
  const lineages = [...new Set(keys.map(({ lineage }) => `${lineage}`))];
  const ask = (asked: readonly string[]) =>
    askInstances(directUrl, context, {
      about: "usage",
      account: `${account.id}`,
      limits: limitsOf(account),
      keys: asked,
    });
  const first = await ask(lineages.slice(0, maxPenalties));
  const all = [first];
  for (let next = maxPenalties; next < lineages.length; next += maxPenalties) {
    all.push(await ask(lineages.slice(next, next + maxPenalties)));
  }
  const penalties = new Map<string, CountedPenalty>();
  for (const response of all.flatMap(({ responses }) => responses)) {
    const by = counterOf(response);
    for (const penalty of response.penalties ?? []) penalties.set(`${penalty.key} ${by}`, { ...penalty, by });
  }
  const unlifted = withoutLifted([...penalties.values()], await repository.listLineages(lineages.map(BigInt)));
  return { ...first, penalties: unlifted, gap: all.map(gapOf).find((gap) => gap !== undefined) };
}

/** An instance applies a lift when it reads the record of the key for its next request. Until then, it still has the ban. */
export function withoutLifted<Penalty extends { readonly key: string; readonly sinceMs?: number }>(
  penalties: readonly Penalty[],
  keys: readonly Pick<LineageKey, "lineage" | "banLiftedAgoMs">[],
): Penalty[] {
  const liftedAgoMs = new Map(keys.map((key) => [`${key.lineage}`, key.banLiftedAgoMs]));
  return penalties.filter(({ key, sinceMs = 0 }) => (liftedAgoMs.get(key) ?? Number.POSITIVE_INFINITY) > sinceMs);
}

type LineageKey = Awaited<ReturnType<KeyRepository["listLineages"]>>[number];

function gapOf(asked: InstanceResponses): string | undefined {
  const missing = missingResponses(asked);
  if (missing !== undefined) return missing;
  if (asked.responses.some(({ penalties }) => penalties === undefined)) {
    return "An instance did not report bans and strikes: it is of an earlier release, or could not read them.";
  }
  if (asked.responses.some(({ mode }) => mode === "fallback"))
    return "Redis is unavailable, and no instance knows all of its bans and strikes.";
  return undefined;
}

/** The time at which the last ban of these penalties ends, and the most strikes. */
export function strictest(penalties: readonly KeyPenalty[]): { bannedUntil: string | undefined; strikes: number } {
  const bannedUntilMs = Math.max(0, ...penalties.map((penalty) => penalty.bannedUntilMs ?? 0));
  return {
    bannedUntil: bannedUntilMs === 0 ? undefined : new Date(bannedUntilMs).toISOString(),
    strikes: Math.max(0, ...penalties.map(({ strikes }) => strikes)),
  };
}

/** The newest key of each lineage, by the lineage. */
export function newestByLineage<Key extends KeyRecord>(keys: readonly Key[]): ReadonlyMap<string, Key> {
  return new Map(keys.toSorted((one, other) => Number(one.id - other.id)).map((key) => [`${key.lineage}`, key]));
}
