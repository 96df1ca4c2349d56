import { type Account, limitsOf, type NewAccount, type Plan, planNames } from "@petstore/core";
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
  const account = program.command("account").description("the holders of plans and keys");

  withLimits(account.command("create <name>").description("add an account"))
    .option("--plan <plan>", `its plan: ${planNames.join(", ")}`, planName, "free")
    .action((name: string, options: LimitOptions & { plan: Plan }) =>
      withDatabase(context, async ({ accounts }) => {
        checkName(name);
        const created = await accounts.create(planned(name, options.plan, options));
        if (created === undefined) throw new Refusal("There is an account of this name already.");
        context.print(formatRecord(fields(created), options.json));
      }),
    );

  account
    .command("list")
    .description("show every account")
    .option("--json", "print JSON", false)
    .action((options: { json: boolean }) =>
      withDatabase(context, async ({ accounts }) => {
        context.print(formatRecords((await accounts.list()).map(fields), options.json));
      }),
    );

  account
    .command("show <name>")
    .description("show one account and its keys, without the keys themselves")
    .option("--json", "print JSON", false)
    .action((name: string, { json }: { json: boolean }) =>
      withDatabase(context, async (opened) => {
        const found = await findAccount(opened, name);
        const keys = (await opened.keys.list(found.id)).map(keyFields);
        if (json) context.print(formatJson({ ...fields(found), keys }));
        else context.print(`${formatRecord(fields(found), false)}\n\nkeys\n${formatTable(keys)}`);
      }),
    );

  withLimits(account.command("set-plan <name>").description("change what an account may ask; what it used is kept"))
    .addArgument(new Argument("<plan>", "its new plan").choices(planNames))
    .action((name: string, plan: Plan, options: LimitOptions) =>
      withDatabase(context, async ({ accounts }) => {
        const changed = await accounts.setPlan(planned(name, plan, options));
        context.print(formatRecord(fields(changed ?? noSuchAccount()), options.json));
      }),
    );

  withLimits(
    account.command("set-limits <name>").description("change the numbers agreed with an Enterprise account"),
  ).action((name: string, options: LimitOptions) =>
    withDatabase(context, async (opened) => {
      const { plan } = await findAccount(opened, name);
      if (plan !== "enterprise") {
        throw new Refusal(
          `Only Enterprise has numbers of its own, and this account is on ${plan}: petstore account set-plan changes that.`,
        );
      }
      const changed = await opened.accounts.setPlan(planned(name, plan, options));
      context.print(formatRecord(fields(changed ?? noSuchAccount()), options.json));
    }),
  );

  account
    .command("suspend <name>")
    .description("refuse every request with a key of the account, until it is resumed")
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

function planned(name: string, plan: Plan, { perMinute, perDay }: LimitOptions): NewAccount {
  if (plan !== "enterprise") {
    if (perMinute === undefined && perDay === undefined) return { name, plan };
    throw new Refusal("Only the Enterprise plan has numbers of its own: leave --per-minute and --per-day out.");
  }
  if (perMinute === undefined || perDay === undefined) {
    throw new Refusal("Enterprise limits are agreed one by one: give both --per-minute and --per-day.");
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

function planName(text: string): Plan {
  const plan = planNames.find((name) => name === text);
  if (plan === undefined) throw new InvalidArgumentError(`It must be one of ${planNames.join(", ")}.`);
  return plan;
}
