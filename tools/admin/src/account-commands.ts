import { type Account, limitsOf, type NewAccount, type Plan, planNames } from "@petstore/core";
import { Argument, type Command, Option } from "commander";
import { checkName, wholeNumber } from "./arguments.js";
import { findAccount, noSuchAccount, type OpenedDatabase, Refusal, type Run } from "./command-context.js";
import { keyFields } from "./key-commands.js";
import { type Fields, recordOutput, tableOutput } from "./output.js";

interface LimitOptions {
  perMinute?: number;
  perDay?: number;
}

export function addAccountCommands(program: Command, run: Run): void {
  const account = program.command("account").description("accounts: each has a plan, and its keys share the limits");

  withLimits(account.command("create <name>").description("add an account"))
    .addOption(new Option("--plan <plan>", "its plan").choices(planNames).default("free"))
    .action((name: string, options: LimitOptions & { plan: Plan }) =>
      run(async ({ accounts }) => {
        checkName(name);
        const created = await accounts.create(planned(name, options.plan, options));
        if (created === undefined) throw nameIsTaken();
        return recordOutput(fields(created));
      }),
    );

  account
    .command("list")
    .description("show all accounts")
    .action(() => run(async ({ accounts }) => tableOutput((await accounts.list()).map(fields))));

  account
    .command("show <name>")
    .description("show one account, and the ids, names and first characters of its keys")
    .action((name: string) =>
      run(async (opened) => {
        const found = await findAccount(opened, name);
        const record = recordOutput(fields(found));
        const keys = tableOutput((await opened.keys.list(found.id)).map(keyFields));
        return { text: `${record.text}\n\nkeys\n${keys.text}`, json: { ...fields(found), keys: keys.json } };
      }),
    );

  withLimits(
    account
      .command("set-plan <name>")
      .description("change the plan or the agreed limits of an account; the units that it has used still count"),
  )
    .addArgument(new Argument("<plan>", "its new plan").choices(planNames))
    .action((name: string, plan: Plan, options: LimitOptions) =>
      run(async ({ accounts }) => {
        const changed = await accounts.setPlan(planned(name, plan, options));
        return recordOutput(fields(changed ?? noSuchAccount()));
      }),
    );

  account
    .command("rename <name> <new-name>")
    .description("give an account another name; its id, keys and counts stay")
    .action((name: string, newName: string) =>
      run(async (opened) => {
        checkName(newName);
        const renamed = await opened.accounts.rename(name, newName);
        if (renamed === "taken") throw nameIsTaken();
        return recordOutput(fields(renamed ?? (await findAccount(opened, name))));
      }),
    );

  account
    .command("delete <name>")
    .description("delete an account with its keys; refused while a key works. Its pets and the audit log stay")
    .option("--force", "revoke the keys that still work, and then delete the account", false)
    .action((name: string, { force }: { force: boolean }) =>
      run(async (opened) => {
        const { id } = await findAccount(opened, name);
        const deletedKeys = (await opened.keys.list(id)).length;
        if (force) await opened.keys.revokeAll(id);
        const deleted = await opened.accounts.delete(id);
        if (deleted === undefined) throw await whyNotDeleted(opened, id);
        return recordOutput({ ...fields(deleted), deletedKeys });
      }),
    );

  for (const [change, description] of [
    ["suspend", "refuse every request with a key of the account, until account resume"],
    ["resume", "end the suspension of an account"],
  ] as const) {
    account
      .command(`${change} <name>`)
      .description(description)
      .action((name: string) =>
        run(async (opened) => {
          const changed = await opened.accounts[change](name);
          return recordOutput(fields(changed ?? (await findAccount(opened, name))));
        }),
      );
  }
}

function nameIsTaken(): Refusal {
  return new Refusal("An account with this name exists already.");
}

async function whyNotDeleted({ accounts }: OpenedDatabase, id: bigint): Promise<Refusal> {
  if ((await accounts.find(id)) === undefined) return noSuchAccount();
  return new Refusal(
    "Keys of this account still work; petstore key list shows them. Revoke them first, or give --force to revoke them now.",
  );
}

function withLimits(command: Command): Command {
  return command
    .option("--per-minute <requests>", "agreed requests per minute; Enterprise only", wholeNumber)
    .option("--per-day <requests>", "agreed requests per day; Enterprise only", wholeNumber);
}

function planned(name: string, plan: Plan, { perMinute, perDay }: LimitOptions): NewAccount {
  if (plan !== "enterprise") {
    if (perMinute === undefined && perDay === undefined) return { name, plan };
    throw new Refusal("Only the Enterprise plan has limits of its own: omit --per-minute and --per-day.");
  }
  if (perMinute === undefined || perDay === undefined) {
    throw new Refusal("The limits of an Enterprise account are agreed: give both --per-minute and --per-day.");
  }
  return { name, plan, customLimits: { perMinute, perDay } };
}

function fields(account: Account): Fields {
  const { perMinute, perDay } = limitsOf(account);
  return {
    id: `${account.id}`,
    name: account.name,
    plan: account.plan,
    perMinute,
    perDay,
    createdAt: account.createdAt.toISOString(),
    suspendedAt: account.suspendedAt?.toISOString(),
  };
}
