import { limitsOf, type OperatorResponse, remaining, type WindowState } from "@petstore/core";
import type { Command } from "commander";
import { type CommandContext, withDatabase } from "./command-context.js";
import { findAccount } from "./find-account.js";
import { requestFromRunning } from "./instances.js";
import { formatJson, formatTable } from "./output.js";

export function addUsageCommands(program: Command, context: CommandContext): void {
  program
    .command("usage")
    .description("how much of its limits an account has used")
    .command("show <account>")
    .description("show both windows of an account, from the running instances; costs no unit")
    .option("--json", "print JSON", false)
    .action((name: string, { json }: { json: boolean }) =>
      withDatabase(context, async (opened) => {
        const account = await findAccount(opened, name);
        const request = { about: "usage", account: `${account.id}`, limits: limitsOf(account) } as const;
        const counts = countsOf(await requestFromRunning(opened, context, request));
        context.print(json ? formatJson({ account: name, plan: account.plan, counts }) : table(counts));
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

/** Instances that share a Redis report the same counts: the last response of them is shown. */
function countsOf(responses: readonly OperatorResponse[]): Count[] {
  const byCounter = new Map<string, Count>();
  for (const { instance, mode, usage } of responses) {
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
