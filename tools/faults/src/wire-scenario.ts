import { setTimeout as sleep } from "node:timers/promises";
import { bothApis } from "./api.js";
import type { Answer } from "./ask.js";
import { unthrottled } from "./environment.js";
import { atLeast, exactly } from "./measure.js";
import { openRawClient, type RawAnswer } from "./raw-client.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { roomy } from "./stage.js";
import { hasErrorBody, hasTripleOnce } from "./wire-answers.js";
import { authorization, type Conversation, conversations, requestOf } from "./wire-requests.js";

const resets = 200;

/** How long it is waited for an answer too many. */
const quietMs = 30;

interface Outcome extends Conversation {
  readonly answers: readonly RawAnswer[];
}

export const wireScenario: Scenario = {
  group: "http",
  name: "wire",
  cause: `bytes that never become a request for Express, or not a usual one, on raw sockets; ${resets} resets at any moment`,
  expected: "every one answered once, in order, with the Error body and the X-RateLimit triple; no process ends",
  async run(stage) {
    const services = await stage.startCold(bothApis, unthrottled);
    await stage.warmUp();
    const { apiKey } = await stage.store.issueKey(roomy);
    const checks: Check[] = [];
    for (const service of services) {
      const { name } = service.api;
      const outcomes: Outcome[] = [];
      for (const conversation of conversations(service.api, apiKey)) outcomes.push(await hold(service, conversation));
      for (const { answers } of outcomes) stage.keep(answers.filter(isFinal));
      const final = outcomes.flatMap(({ answers }) => answers.filter(isFinal));
      const refused = final.filter(({ status }) => status >= 400);
      const strange = outcomes.filter(({ answers, statuses }) => statusesOf(answers) !== statuses.join());
      checks.push(
        exactly(
          0,
          describe(`${name}: of ${outcomes.length} connections not answered as they must`, strange),
          strange.length,
        ),
        atLeast(outcomes.length / 2, `${name}: refusals`, refused.length),
        exactly(0, `${name}: of them without the Error body`, refused.filter((answer) => !hasErrorBody(answer)).length),
        exactly(
          0,
          `${name}: answers without each X-RateLimit header once`,
          final.filter((answer) => !hasTripleOnce(answer)).length,
        ),
      );
      await resetOften(service, requestOf(service.api.list, authorization(apiKey)));
    }
    const later = await stage.burst({ requests: 100, callers: 8, apiKey: () => apiKey, call: ({ list }) => list });
    return [
      ...checks,
      exactly(0, "processes that ended", services.filter((service) => service.hasEnded()).length),
      exactly(
        100,
        "of 100 requests answered 200 after the resets",
        later.filter(({ status }) => status === 200).length,
      ),
    ];
  },
};

async function hold({ port }: Service, conversation: Conversation): Promise<Outcome> {
  using client = openRawClient(port);
  await client.send(conversation.bytes);
  if (conversation.isHalfClosed === true) client.end();
  await client.until(conversation.statuses.length);
  await sleep(quietMs);
  return { ...conversation, answers: [...client.answers()] };
}

/** At every moment of a request and its answer. */
async function resetOften({ port }: Service, request: string): Promise<void> {
  for (let reset = 0; reset < resets; reset += 1) {
    using client = openRawClient(port);
    const share = reset % 2 === 0 ? request.length : Math.floor((request.length * reset) / resets);
    await client.send(request.slice(0, share));
    await sleep(reset % 7);
    client.reset();
  }
}

function isFinal({ status }: Answer): boolean {
  return status >= 200;
}

function statusesOf(answers: readonly Answer[]): string {
  return answers.map(({ status }) => status).join();
}

function describe(what: string, outcomes: readonly Outcome[]): string {
  return [what, ...outcomes.map((one) => `${one.what}: ${statusesOf(one.answers) || "nothing"}`)].join("; ");
}
