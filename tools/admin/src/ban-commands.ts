import type { Command } from "commander";
import { keyId } from "./arguments.js";
import { type CommandContext, findAccount, type Run } from "./command-context.js";
import { requestBans } from "./instances.js";
import { keyOutput } from "./key-commands.js";
import { tableOutput } from "./output.js";

export function addBanCommands(program: Command, run: Run, context: CommandContext): void {
  const ban = program.command("ban").description("keys that are banned because they continued to call after 429");

  ban
    .command("list [account]")
    .description("show the banned keys of all accounts or of one account, from the running instances")
    .action((name: string | undefined) =>
      run(async (opened) => {
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
        return tableOutput(rows);
      }),
    );

  ban
    .command("lift <key>")
    .description("end the ban of a key, by its id, and of the keys that it was rotated from or to; forgets its strikes")
    .action((id: string) => run(async ({ keys }) => keyOutput(await keys.liftBan(keyId(id)))));
}
