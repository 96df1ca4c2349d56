import { type Account, type CustomLimits, limitsOf, type NewAccount, type Plan, planNames } from "@petstore/core";
import { Argument, type Command, InvalidArgumentError } from "commander";
import { checkName, wholeNumber } from "./arguments.js";
import { type CommandContext, Refusal, withDatabase } from "./command-context.js";
import { findAccount, noSuchAccount } from "./find-account.js";
import { type Fields, formatJson, formatRecord, formatRecords, formatTable } from "./output.js";
import { keyFields } from "./record-fields.js";

interface LimitOptions {
  perMinute?: number;
  perDay?: number;
  json: boolean;
}

export function addAccountCommands(program: Command, context: CommandContext): void {
  const account = program.command("account").description("accounts: each has a plan, and its keys share the limits");

  withLimits(account.command("create <name>").description("add an account"))
    .option("--plan <plan>", `its plan: ${planNames.join(", ")}`, planName, "free")
    .action((name: string, options: LimitOptions & { plan: Plan }) =>
      withDatabase(context, async ({ accounts }) => {
        checkName(name);
        const created = await accounts.create(planned(name, options.plan, options));
        if (created === undefined) throw new Refusal("An account with this name exists already.");
        context.print(formatRecord(fields(created), options.json));
      }),
    );

  account
    .command("list")
    .description("show all accounts")
    .option("--json", "print JSON", false)
    .action((options: { json: boolean }) =>
      withDatabase(context, async ({ accounts }) => {
        context.print(formatRecords((await accounts.list()).map(fields), options.json));
      }),
    );

  account
    .command("show <name>")
    .description("show one account, and the ids, names and first characters of its keys")
    .option("--json", "print JSON", false)
    .action((name: string, { json }: { json: boolean }) =>
      withDatabase(context, async (opened) => {
        const found = await findAccount(opened, name);
        const keys = (await opened.keys.list(found.id)).map(keyFields);
        if (json) context.print(formatJson({ ...fields(found), keys }));
        else context.print(`${formatRecord(fields(found), false)}\n\nkeys\n${formatTable(keys)}`);
      }),
    );

  withLimits(
    account
      .command("set-plan <name>")
      .description("change the plan of an account; the units that it has used still count"),
  )
    .addArgument(new Argument("<plan>", "its new plan").choices(planNames))
    .action((name: string, plan: Plan, options: LimitOptions) =>
      withDatabase(context, async ({ accounts }) => {
        const changed = await accounts.setPlan(planned(name, plan, options));
        context.print(formatRecord(fields(changed ?? noSuchAccount()), options.json));
      }),
    );

  withLimits(
    account.command("set-limits <name>").description("change the limits agreed with an Enterprise account"),
  ).action((name: string, options: LimitOptions) =>
    withDatabase(context, async (opened) => {
      const { plan } = await findAccount(opened, name);
      const changed = await opened.accounts.setLimits({ name, customLimits: agreedLimits(options) });
      if (changed === undefined) {
        throw new Refusal(
          `Only an Enterprise account has limits of its own; this account has the plan ${plan}. petstore account set-plan changes the plan.`,
        );
      }
      context.print(formatRecord(fields(changed), options.json));
    }),
  );

  account
    .command("suspend <name>")
    .description("refuse every request with a key of the account, until account resume")
    .option("--json", "print JSON", false)
    .action((name: string, { json }: { json: boolean }) =>
      withDatabase(context, async (opened) => {
        const suspended = (await opened.accounts.suspend(name)) ?? (await findAccount(opened, name));
        context.print(formatRecord(fields(suspended), json));
      }),
    );

  account
    .command("resume <name>")
    .description("end the suspension of an account")
    .option("--json", "print JSON", false)
    .action((name: string, { json }: { json: boolean }) =>
      withDatabase(context, async (opened) => {
        const resumed = (await opened.accounts.resume(name)) ?? (await findAccount(opened, name));
        context.print(formatRecord(fields(resumed), json));
      }),
    );
}

function withLimits(command: Command): Command {
  return command
    .option("--per-minute <requests>", "agreed requests per minute; Enterprise only", wholeNumber)
    .option("--per-day <requests>", "agreed requests per day; Enterprise only", wholeNumber)
    .option("--json", "print JSON", false);
}

function planned(name: string, plan: Plan, options: LimitOptions): NewAccount {
  if (plan === "enterprise") return { name, plan, customLimits: agreedLimits(options) };
  if (options.perMinute === undefined && options.perDay === undefined) return { name, plan };
  throw new Refusal("Only the Enterprise plan has limits of its own: omit --per-minute and --per-day.");
}

function agreedLimits({ perMinute, perDay }: LimitOptions): CustomLimits {
  if (perMinute === undefined || perDay === undefined) {
    throw new Refusal("The limits of an Enterprise account are agreed: give both --per-minute and --per-day.");
  }
  return { perMinute, perDay };
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

function planName(text: string): Plan {
  const plan = planNames.find((name) => name === text);
  if (plan === undefined) throw new InvalidArgumentError(`It must be one of ${planNames.join(", ")}.`);
  return plan;
}
