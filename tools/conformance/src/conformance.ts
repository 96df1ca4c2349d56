import { writeFile } from "node:fs/promises";
import { audits } from "./audits/audits.js";
import { clients } from "./clients/clients.js";
import { helpText, readCommandLine } from "./command-line.js";
import { documents } from "./documents/documents.js";
import { exactness } from "./exactness/exactness.js";
import { parity } from "./parity/parity.js";
import { countChecks, formatReport, type Played, reportJson } from "./report.js";
import type { Section } from "./section.js";
import { leftOfMinuteMs, openStage, type Stage } from "./stage.js";

const sections: readonly Section[] = [exactness, audits, clients, documents, parity];

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Stops a run and everything it has started. */
  readonly signal: AbortSignal;
}

/** Runs one command line; the exit code is 0, 1 when anything differs, 2 when it was not understood. */
export async function runConformance(
  words: readonly string[],
  { print, complain, signal }: Surroundings,
): Promise<0 | 1 | 2> {
  const command = readCommandLine(words, sections);
  switch (command.kind) {
    case "help":
      print(helpText(sections));
      return 0;
    case "unclear":
      complain(command.reason);
      return 2;
    case "run": {
      await using stage = await openStage();
      const played: Played[] = [];
      for (const section of inOrder(command.sections)) {
        complain(`${section.name}: ${section.about} ...`);
        played.push(await Promise.race([play(section, stage), rejectionBy(signal)]));
      }
      if (command.sections.some(({ asksRest }) => asksRest)) {
        played.push({ section: "openapi", seconds: 0, checks: [stage.described.check()] });
      }
      print(`\n${formatReport(played)}`);
      if (command.jsonFile !== undefined) await writeFile(command.jsonFile, reportJson(played));
      const { passed, failed } = countChecks(played);
      return passed > 0 && failed === 0 ? 0 : 1;
    }
  }
}

/** Waiting for a minute to begin is time lost, where others can be played meanwhile. */
function inOrder(chosen: readonly Section[]): Section[] {
  const hasTime = ({ minuteMs = 0 }: Section) => leftOfMinuteMs() > minuteMs + startMs;
  return [...chosen.filter(hasTime), ...chosen.filter((section) => !hasTime(section))];
}

/** What the stage and the services take to start. */
const startMs = 8_000;

async function play(section: Section, stage: Stage): Promise<Played> {
  const beganMs = performance.now();
  const checks = await section.run(stage).catch((error: unknown) => [
    // The section counts as failed; the others are still played.
    { name: section.name, differences: [error instanceof Error ? (error.stack ?? error.message) : `${error}`] },
  ]);
  return { section: section.name, seconds: (performance.now() - beganMs) / 1_000, checks };
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
}
