import { type OperatorResponse, remaining, type WindowState } from "@petstore/core";
import type { Command } from "commander";
import { type CommandContext, findAccount, Refusal, type Run } from "./command-context.js";
import { counterOf, missingResponses } from "./instances.js";
import { type Fields, tableOutput } from "./output.js";
import { newestByLineage, readAccountState } from "./penalties.js";
import { addUsageHistoryCommands } from "./usage-history-commands.js";

export function addUsageCommands(program: Command, run: Run, context: CommandContext): void {
  const usage = program.command("usage").description("how much of its limits an account has used, now and before");
  usage
    .command("show <account>")
    .description("show both windows of an account, and the bans and strikes of its keys; costs no unit")
    .addHelpText(
      "after",
      `
The counts come from the running instances. "counted by" is Redis for instances that share one. Another instance counts for
itself, and so does an instance whose Redis is unavailable.`,
    )
    .action((name: string) =>
      run(async (opened) => {
        const account = await findAccount(opened, name);
        const keys = await opened.keys.list(account.id);
        const state = await readAccountState(opened, context, account, keys);
        if (state.responses.length === 0) throw new Refusal(missingResponses(state) ?? "");
        if (state.gap !== undefined) context.complain(state.gap);
        const counts = countsOf(state.responses);
        const windows = counts.flatMap(({ by, minute, day }) => [
          { window: "minute", ...minute, by },
          { window: "day", ...day, by },
        ]);
        const newest = newestByLineage(keys);
        const penalties = state.penalties.map(({ key: lineage, bannedUntilMs, strikes, strikesThatBan, by }) => ({
          key: `${newest.get(lineage)?.id ?? lineage}`,
          name: newest.get(lineage)?.name,
          bannedUntil: bannedUntilMs === undefined ? undefined : new Date(bannedUntilMs).toISOString(),
          strikes,
          strikesThatBan,
          by,
        }));
        return {
          text: `${tableText(windows)}\n\nbans and strikes\n${tableText(penalties)}`,
          json: { account: name, plan: account.plan, counts, penalties },
        };
      }),
    );
  addUsageHistoryCommands(usage, run);
}

function tableText(records: readonly (Fields & { readonly by: string })[]): string {
  return tableOutput(records.map(({ by, ...fields }) => ({ ...fields, "counted by": by }))).text;
}

/** Instances that share a Redis report the same counts: the last response of them is shown. */
function countsOf(responses: readonly OperatorResponse[]) {
  const byCounter = new Map<string, { by: string; minute: ShownWindow; day: ShownWindow }>();
  for (const response of responses) {
    const { usage } = response;
    if (usage === undefined) continue;
    const by = counterOf(response);
    byCounter.set(by, { by, minute: shown(usage.minute), day: shown(usage.day) });
  }
  return [...byCounter.values()];
}

type ShownWindow = ReturnType<typeof shown>;

function shown(window: WindowState) {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), resetsAt: new Date(resetAtMs).toISOString() };
}
