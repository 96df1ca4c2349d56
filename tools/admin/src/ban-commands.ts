import type { ReportedBan } from "@petstore/core";
import type { Command } from "commander";
import { keyId } from "./arguments.js";
import { type CommandContext, findAccount, type OpenedDatabase, Refusal, type Run } from "./command-context.js";
import { askInstances, askRunningInstances, counterOf } from "./instances.js";
import { keyOutput, noSuchKey } from "./key-commands.js";
import { type Fields, type Output, tableOutput } from "./output.js";
import { newestByLineage, readAccountState, withoutLifted } from "./penalties.js";

/** An instance reads all keys of its Redis for this. A million take a few seconds. */
const listingMs = 30_000;

export function addBanCommands(program: Command, run: Run, context: CommandContext): void {
  const ban = program.command("ban").description("show and end bans; a key that continues to call after 429 is banned");

  ban
    .command("list [account]")
    .description("show the keys that are banned now, of all accounts or of one, from the running instances")
    .action((account: string | undefined) => run((opened) => listBans(opened, context, account)));

  ban
    .command("lift <key>")
    .description("end the ban of a key, by its id, and of the keys that it was rotated from or to; forgets its strikes")
    .action((id: string) => run((opened) => liftBan(opened, context, keyId(id))));
}

type CountedBan = ReportedBan & { readonly by: string };

async function listBans(opened: OpenedDatabase, context: CommandContext, name: string | undefined): Promise<Output> {
  const wanted = name === undefined ? undefined : `${(await findAccount(opened, name)).id}`;
  const all = await readBans(opened, context);
  const bans = all.filter(({ account }) => wanted === undefined || account === wanted);
  const keys = await opened.keys.listLineages([...new Set(bans.map(({ key }) => BigInt(key)))]);
  const newest = newestByLineage(keys);
  const shown = withoutLifted(bans, keys)
    .toSorted((one, other) => one.bannedUntilMs - other.bannedUntilMs)
    .map(({ account, key: lineage, bannedUntilMs, by }) => {
      const key = newest.get(lineage);
      return {
        account: key?.accountName ?? `(deleted, id ${account})`,
        key: `${key?.id ?? lineage}`,
        name: key?.name,
        prefix: key?.prefix,
        rotatedFrom: key === undefined || key.lineage === key.id ? undefined : lineage,
        bannedUntil: new Date(bannedUntilMs).toISOString(),
        by,
      };
    });
  const text = tableOutput(shown.map(({ by, ...fields }): Fields => ({ ...fields, "counted by": by }))).text;
  return { text, json: shown };
}

/** Of the instances that share a Redis, one reads it. Every other instance knows its own bans. */
async function readBans({ directUrl }: OpenedDatabase, context: CommandContext): Promise<readonly CountedBan[]> {
  const running = await askRunningInstances(directUrl, context, { about: "presence" });
  const [shared] = running.filter(({ mode }) => mode === "shared");
  const alone = running.filter(({ mode }) => mode !== "shared");
  const asked = shared === undefined ? alone : [shared, ...alone];
  if (alone.some(({ mode }) => mode === "fallback")) {
    context.complain("Redis is unavailable: its bans that no instance has seen are missing.");
  }

  const request = { about: "bans", of: asked.map(({ instance }) => instance) } as const;
  const limits = { responders: asked.length, withinMs: listingMs };
  const { responses } = await askInstances(directUrl, context, request, limits);
  const complete = responses.filter(({ failed, more }) => !failed && !more);
  if (complete.length === 0) throw new Refusal("No instance could list its bans; the log of the instances says why.");
  if (complete.length < asked.length) {
    context.complain(`Bans may be missing: ${complete.length} of ${asked.length} instances listed theirs.`);
  }
  const byKey = new Map<string, CountedBan>();
  for (const response of responses) {
    const by = counterOf(response);
    for (const ban of response.bans ?? []) byKey.set(`${ban.key} ${by}`, { ...ban, by });
  }
  return [...byKey.values()];
}

/** Changes nothing if no instance has banned the key. If this is not known, the lift is stored, and ends a ban if there is one. */
async function liftBan(opened: OpenedDatabase, context: CommandContext, id: bigint): Promise<Output> {
  const key = (await opened.keys.find(id)) ?? noSuchKey();
  const account = await opened.accounts.find(key.accountId);
  if (account === undefined) return noSuchKey();
  const siblings = await opened.keys.listLineages([key.lineage]);
  const { penalties, gap } = await readAccountState(opened, context, account, siblings);
  const isBanned = penalties.some(({ bannedUntilMs }) => bannedUntilMs !== undefined);
  if (!isBanned && gap === undefined) {
    context.complain(`Key ${id} is not banned: nothing was changed.`);
    return keyOutput(key);
  }
  if (!isBanned) context.complain(`It is not known whether key ${id} is banned. ${gap} Its ban ends if it has one.`);
  return keyOutput(await opened.keys.liftBan(id));
}
