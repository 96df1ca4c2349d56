import { listBusiestAccounts, listDeprecatedUse, listUsage, type UsagePeriod } from "@petstore/core";
import type { Command } from "commander";
import { keyId, wholeNumber } from "./arguments.js";
import { findAccount, type OpenedDatabase, Refusal, type Run } from "./command-context.js";
import { noSuchKey } from "./key-commands.js";
import { tableOutput } from "./output.js";

interface PeriodOptions {
  hours?: number;
  days?: number;
}

/** The commands of `petstore usage` that read the stored history. */
export function addUsageHistoryCommands(usage: Command, run: Run): void {
  withPeriod(
    usage
      .command("history [account]")
      .description("the admitted units and refused requests of an account or a key, by hour or day")
      .option("--key <id>", "of this key alone, instead of an account"),
    "30 days",
  )
    .addHelpText("after", `\n${meaning}`)
    .action((account: string | undefined, { key, ...options }: PeriodOptions & { key?: string }) =>
      run(async (opened) => {
        if ((account === undefined) === (key === undefined)) {
          throw new Refusal("Give the name of an account, or --key <id>.");
        }
        const period = periodOf(options, 30);
        const of = account === undefined ? await findKey(opened, key ?? "") : await findAccountId(opened, account);
        const rows = await listUsage(opened.database, of, period);
        return tableOutput(
          rows.map((row) => ({
            [period.unit]: timeText(row.start, period.unit),
            key: `${row.keyId}`,
            name: row.keyName,
            api: row.api,
            admitted: Number(row.admitted),
            refused: Number(row.refused),
          })),
        );
      }),
    );

  withPeriod(usage.command("top").description("the busiest accounts of a period"), "1 day")
    .option("--limit <accounts>", "at most this many accounts", wholeNumber, 20)
    .addHelpText("after", `\n${meaning}`)
    .action(({ limit, ...options }: PeriodOptions & { limit: number }) =>
      run(async ({ database }) => {
        const accounts = await listBusiestAccounts(database, periodOf(options, 1), limit);
        return tableOutput(
          accounts.map(({ account, plan, admitted, refused }) => ({
            account,
            plan,
            admitted: Number(admitted),
            refused: Number(refused),
          })),
        );
      }),
    );

  withPeriod(
    usage
      .command("deprecated")
      .description("the accounts and keys that still call a deprecated operation, GET /pets/{petId}"),
    "30 days",
  )
    .addHelpText(
      "after",
      `\n"lastHour" is the start of the last hour with a call. A request that is refused in a brownout is in neither number, but its
key is listed. ${meaning}`,
    )
    .action((options: PeriodOptions) =>
      run(async ({ database }) => {
        const uses = await listDeprecatedUse(database, periodOf(options, 30));
        return tableOutput(
          uses.map((use) => ({
            operation: use.operation,
            account: use.account,
            key: `${use.keyId}`,
            name: use.keyName,
            admitted: Number(use.admitted),
            refused: Number(use.refused),
            lastHour: timeText(use.lastHour, "hour"),
          })),
        );
      }),
    );
}

const meaning = `Hours and days are in UTC, and the last one is the present one. "admitted" are units, and "refused" are requests that got 429.
Instances write their counts every 10 s.`;

function withPeriod(command: Command, byDefault: string): Command {
  return command
    .option("--hours <count>", `the last hours; by default ${byDefault}`, wholeNumber)
    .option("--days <count>", "the last days", wholeNumber);
}

function periodOf({ hours, days }: PeriodOptions, defaultDays: number): UsagePeriod {
  if (hours !== undefined && days !== undefined) throw new Refusal("Give --hours or --days, not both.");
  const period: UsagePeriod =
    hours === undefined ? { unit: "day", count: days ?? defaultDays } : { unit: "hour", count: hours };
  if (period.count > longest[period.unit]) {
    throw new Refusal(`Give at most ${longest.hour} hours or ${longest.day} days.`);
  }
  return period;
}

/** Ten years. */
const longest = { hour: 87_600, day: 3_650 } as const;

async function findAccountId(opened: OpenedDatabase, name: string): Promise<{ accountId: bigint }> {
  return { accountId: (await findAccount(opened, name)).id };
}

async function findKey({ keys }: OpenedDatabase, text: string): Promise<{ keyId: bigint }> {
  return { keyId: ((await keys.find(keyId(text))) ?? noSuchKey()).id };
}

function timeText(start: Date, unit: UsagePeriod["unit"]): string {
  return unit === "day" ? start.toISOString().slice(0, 10) : `${start.toISOString().slice(0, 16)}Z`;
}
