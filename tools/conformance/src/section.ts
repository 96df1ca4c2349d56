import type { Stage } from "./stage.js";

/** A part of the run that can be chosen by its name. */
export interface Section {
  readonly name: string;
  readonly about: string;
  /** How much of one UTC minute it needs: it is played later where less is left. */
  readonly minuteMs?: number;
  /** Whether it asks REST: then answers must have been heard of there, or nothing was held against the document. */
  readonly asksRest?: true;
  run(stage: Stage): Promise<readonly Check[]>;
}

/** One promise, checked. */
export interface Check {
  readonly name: string;
  /** What is not as promised, a sentence each; none when the promise holds. */
  readonly differences: readonly string[];
  /** Why something differs on purpose. */
  readonly byDesign?: readonly string[];
  /** What was measured. */
  readonly figure?: string;
  /** The same, of less interest: for the JSON report alone. */
  readonly detail?: string;
}

/** The check of what throws when it does not hold. */
export async function checkThat(name: string, attempt: () => Promise<string | undefined>): Promise<Check> {
  try {
    const figure = await attempt();
    return { name, differences: [], ...(figure !== undefined && { figure }) };
  } catch (error) {
    // The check counts as failed; the others are still made.
    return { name, differences: [error instanceof Error ? error.message : `${error}`] };
  }
}

/** Throws, saying what was expected. */
export function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
