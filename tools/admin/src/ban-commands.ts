import type { Command } from "commander";
import { keyId } from "./arguments.js";
import { type CommandContext, Refusal, withDatabase } from "./command-context.js";
import { findAccount } from "./find-account.js";
import { requestBans } from "./instances.js";
import { noSuchKey } from "./key-commands.js";
import { formatRecord, formatRecords } from "./output.js";
import { keyFields } from "./record-fields.js";

export function addBanCommands(program: Command, context: CommandContext): void {
  const ban = program.command("ban").description("keys that are banned because they continued to call after 429");

  ban
    .command("list [account]")
    .description("show the banned keys of all accounts or of one account, from the running instances")
    .option("--json", "print JSON", false)
    .action((name: string | undefined, { json }: { json: boolean }) =>
      withDatabase(context, async (opened) => {
        const known = name === undefined ? await opened.accounts.list() : [await findAccount(opened, name)];
        const names = new Map(known.map((account) => [`${account.id}`, account.name]));
        const responses = await requestBans(opened, context);
        const rows = responses.flatMap(({ instance, mode, bans = [] }) =>
          bans
            .filter(({ account }) => name === undefined || names.has(account))
            .map(({ account, key, bannedUntilMs }) => ({
              account: names.get(account) ?? `(deleted, id ${account})`,
              key,
              bannedUntil: new Date(bannedUntilMs).toISOString(),
              by: mode === "shared" ? "Redis" : instance,
            })),
        );
        context.print(formatRecords(rows, json));
      }),
    );

  ban
    .command("lift <key>")
    .description("end the ban of a key, by its id, and of the keys that it was rotated from or to; forgets its strikes")
    .option("--json", "print JSON", false)
    .action((id: string, { json }: { json: boolean }) =>
      withDatabase(context, async ({ keys }) => {
        const record = await keys.liftBan(keyId(id));
        if (record === undefined) throw new Refusal(noSuchKey);
        context.print(formatRecord(keyFields(record), json));
      }),
    );
}
