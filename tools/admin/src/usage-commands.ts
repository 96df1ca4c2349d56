import { limitsOf, type OperatorRequest, type OperatorResponse, remaining, type WindowState } from "@petstore/core";
import type { Command } from "commander";
import { type CommandContext, findAccount, type OpenedDatabase, Refusal, type Run } from "./command-context.js";
import { askInstances, deadlineMs } from "./instances.js";
import { tableOutput } from "./output.js";

export function addUsageCommands(program: Command, run: Run, context: CommandContext): void {
  program
    .command("usage")
    .description("how much of its limits an account has used")
    .command("show <account>")
    .description("show both windows of an account, from the running instances; costs no unit")
    .action((name: string) =>
      run(async (opened) => {
        const account = await findAccount(opened, name);
        const request = { about: "usage", account: `${account.id}`, limits: limitsOf(account) } as const;
        const counts = countsOf(await requestFromRunning(opened, context, request));
        const windows = counts.flatMap(({ by, minute, day }) => [
          { window: "minute", ...minute, by },
          { window: "day", ...day, by },
        ]);
        return { text: tableOutput(windows).text, json: { account: name, plan: account.plan, counts } };
      }),
    );
}

/**
 * Sends a request to every running instance. Refuses if none is running, because only the instances and their Redis have
 * the counters. Warns if some did not respond.
 */
async function requestFromRunning(
  { directUrl }: OpenedDatabase,
  context: CommandContext,
  request: OperatorRequest,
): Promise<readonly OperatorResponse[]> {
  const { responses, listening } = await askInstances(directUrl, context, request);
  if (listening === 0) {
    throw new Refusal(
      "No instance of the store is running on this database. Only a running instance knows this: start one.",
    );
  }
  if (responses.length === 0) {
    throw new Refusal(
      `None of ${listening} running instances answered within ${deadlineMs / 1_000} s; petstore doctor may say why.`,
    );
  }
  if (responses.length < listening) context.complain(`Only ${responses.length} of ${listening} instances answered.`);
  return responses;
}

/** Instances that share a Redis report the same counts: the last response of them is shown. */
function countsOf(responses: readonly OperatorResponse[]) {
  const byCounter = new Map<string, { by: string; minute: ShownWindow; day: ShownWindow }>();
  for (const { instance, mode, usage } of responses) {
    if (usage === undefined) continue;
    const by = mode === "shared" ? "Redis" : mode === "fallback" ? `${instance}, without its Redis` : instance;
    byCounter.set(by, { by, minute: shown(usage.minute), day: shown(usage.day) });
  }
  return [...byCounter.values()];
}

type ShownWindow = ReturnType<typeof shown>;

function shown(window: WindowState) {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), resetsAt: new Date(resetAtMs).toISOString() };
}
