import { type Answer, askInstances, type InstanceAnswers, type Question } from "@petstore/core";
import { Refusal, type Surroundings, silent, type Workplace } from "./workplace.js";

const deadlineMs = 2_000;
const scanDeadlineMs = 15_000;

/**
 * Asks every running instance. Refuses when none is there: what is counted lives in the instances and in their Redis,
 * and nowhere else. Says so when some did not answer.
 */
export async function askRunning(
  workplace: Workplace,
  surroundings: Surroundings,
  question: Question,
): Promise<readonly Answer[]> {
  const { answers, listening } = await ask(workplace, surroundings, question);
  if (answers.length === 0) {
    throw new Refusal(
      listening === 0
        ? "No instance of the store is running on this database, and only those know: start one."
        : `None of ${listening} running instances answered within ${deadlineMs / 1_000} s; petstore doctor may say why.`,
    );
  }
  complainOfSilent(surroundings, answers.length, listening);
  return answers.filter(({ failed }) => failed !== true);
}

/** Asks for bans: of those instances that share a Redis, one. */
export async function askForBans(workplace: Workplace, surroundings: Surroundings): Promise<readonly Answer[]> {
  const present = await askRunning(workplace, surroundings, { about: "presence" });
  const sharing = present.filter(({ mode }) => mode === "shared");
  const alone = present.filter(({ mode }) => mode !== "shared");
  const of = [...sharing.slice(0, 1), ...alone].map(({ instance }) => instance);
  const { answers } = await ask(workplace, surroundings, { about: "bans", of }, of.length);
  const told = answers.filter(({ failed }) => failed !== true);
  complainOfSilent(surroundings, new Set(told.map(({ instance }) => instance)).size, of.length);
  return told;
}

/** Who answers at all, also when nobody does. */
export function lookAround(workplace: Workplace, surroundings: Surroundings): Promise<InstanceAnswers> {
  return ask(workplace, surroundings, { about: "presence" });
}

function ask(
  { database, directUrl: url }: Workplace,
  { randomBytes }: Surroundings,
  question: Question,
  expected?: number,
): Promise<InstanceAnswers> {
  return askInstances({
    database,
    url,
    question,
    id: randomBytes(16).toString("hex"),
    deadlineMs: question.about === "bans" ? scanDeadlineMs : deadlineMs,
    log: silent,
    ...(expected !== undefined && { expected }),
  });
}

function complainOfSilent({ complain }: Surroundings, answered: number, asked: number): void {
  if (answered < asked) complain(`Only ${answered} of ${asked} instances answered.`);
}
