import { type Answer, limitsOf, remaining, type WindowState } from "@petstore/core";
import type { Command } from "commander";
import { findAccount } from "./find-account.js";
import { askRunning } from "./instances.js";
import { formatJson, formatTable } from "./output.js";
import { type Surroundings, withDatabase } from "./workplace.js";

export function addUsageCommands(program: Command, surroundings: Surroundings): void {
  program
    .command("usage")
    .description("what accounts have used of their limits")
    .command("show <account>")
    .description("ask the running instances how both windows of the account of this name stand; costs it nothing")
    .option("--json", "print JSON", false)
    .action((name: string, { json }: { json: boolean }) =>
      withDatabase(surroundings, async (workplace) => {
        const account = await findAccount(workplace.database, name);
        const question = { about: "usage", account: `${account.id}`, limits: limitsOf(account) } as const;
        const counts = countsOf(await askRunning(workplace, surroundings, question));
        surroundings.print(json ? formatJson({ account: name, plan: account.plan, counts }) : table(counts));
      }),
    );
}

interface Count {
  /** Redis, or the instance that counts for itself. */
  readonly by: string;
  readonly minute: ShownWindow;
  readonly day: ShownWindow;
}

interface ShownWindow {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: string;
}

/** Instances that share a Redis tell the same: what the last of them saw. */
function countsOf(answers: readonly Answer[]): Count[] {
  const byCounter = new Map<string, Count>();
  for (const { instance, mode, usage } of answers) {
    if (usage === undefined) continue;
    const by = mode === "shared" ? "Redis" : mode === "fallback" ? `${instance}, without its Redis` : instance;
    byCounter.set(by, { by, minute: shown(usage.minute), day: shown(usage.day) });
  }
  return [...byCounter.values()];
}

function shown(window: WindowState): ShownWindow {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), resetsAt: new Date(resetAtMs).toISOString() };
}

function table(counts: readonly Count[]): string {
  return formatTable(
    counts.flatMap(({ by, minute, day }) => [
      { window: "minute", ...minute, by },
      { window: "day", ...day, by },
    ]),
  );
}
