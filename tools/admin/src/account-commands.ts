import { type Account, createAccountRepository, limitsOf, type NewAccount, type Plan, planNames } from "@petstore/core";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Fields, formatRecord, formatRecords } from "./output.js";
import { Refusal, type Surroundings, withDatabase } from "./workplace.js";

interface CreateOptions {
  plan: Plan;
  perMinute?: number;
  perDay?: number;
  json: boolean;
}

export function addAccountCommands(program: Command, surroundings: Surroundings): void {
  const account = program.command("account").description("the holders of plans and keys");

  account
    .command("create <name>")
    .description("add an account")
    .addOption(new Option("--plan <plan>", "its plan").choices(planNames).default("free"))
    .option("--per-minute <requests>", "agreed requests per minute; Enterprise only", wholeNumber)
    .option("--per-day <requests>", "agreed requests per day; Enterprise only", wholeNumber)
    .option("--json", "print JSON", false)
    .action((name: string, options: CreateOptions) =>
      withDatabase(surroundings, async (database) => {
        const created = await createAccountRepository(database).create(newAccount(name, options));
        if (created === undefined) throw new Refusal("There is an account of this name already.");
        surroundings.print(formatRecord(fields(created), options.json));
      }),
    );

  account
    .command("list")
    .description("show every account")
    .option("--json", "print JSON", false)
    .action((options: { json: boolean }) =>
      withDatabase(surroundings, async (database) => {
        const accounts = await createAccountRepository(database).list();
        surroundings.print(formatRecords(accounts.map(fields), options.json));
      }),
    );
}

function newAccount(name: string, { plan, perMinute, perDay }: CreateOptions): NewAccount {
  if (name.trim() === "" || name.length > 255 || /\p{Cc}/u.test(name)) {
    throw new Refusal("A name has 1 to 255 characters, not all blank, and no control characters.");
  }
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
  };
}

/** PostgreSQL's integer is the bound. */
function wholeNumber(text: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > 2_147_483_647)
    throw new InvalidArgumentError("It must be a whole number from 1 to 2147483647.");
  return value;
}
