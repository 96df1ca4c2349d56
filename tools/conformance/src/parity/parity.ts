import type { Api } from "../apis/api.js";
import { openClientApi } from "../apis/client-api.js";
import { openGraphqlApi } from "../apis/graphql-api.js";
import { openRestApi } from "../apis/rest-api.js";
import type { Check, Section } from "../section.js";
import type { Store } from "../store.js";
import { playAcrossApis } from "./across-apis.js";
import { createScenarios } from "./create-scenarios.js";
import { idempotencyScenarios } from "./idempotency-scenarios.js";
import { keyScenarios } from "./key-scenarios.js";
import { listScenarios } from "./list-scenarios.js";
import { playOutage } from "./outage.js";
import { issueKey, newAddress, type PlayedScenario, play, roomy, type Surroundings } from "./play.js";
import { quotaEnvironment, quotaScenarios } from "./quota-scenarios.js";
import type { Known, Scenario } from "./scenario.js";
import { transportScenarios } from "./transport-scenarios.js";

/** THE table. Rows of lists come first, while the catalogue holds what it was furnished with. */
const scenarios: readonly Scenario[] = [
  ...listScenarios,
  ...createScenarios,
  ...keyScenarios,
  ...quotaScenarios,
  ...idempotencyScenarios,
  ...transportScenarios,
];

export const parity: Section = {
  name: "parity",
  about: "every scenario has the same answer, headers included, through REST, GraphQL and the typed client",
  asksRest: true,
  async run({ store, described, startServices }) {
    await using services = await startServices(["rest", "graphql"], quotaEnvironment);
    const rest = openRestApi(services.originOf("rest"), { described });
    const graphql = services.originOf("graphql");
    const apis = [
      rest,
      openGraphqlApi(graphql),
      openGraphqlApi(graphql, "petsConnection"),
      openClientApi(services.originOf("rest"), described),
    ];
    const surroundings: Surroundings = {
      store,
      apis,
      known: await furnish(store, rest),
      issueKey: (kind, limits) => issueKey(kind, limits, store),
    };
    const played: PlayedScenario[] = [];
    for (const scenario of scenarios) played.push(await play(scenario, surroundings));
    const across = await playAcrossApis(surroundings);
    const outage = await playOutage(store, surroundings);
    return [
      ...played.map(({ compared: _counted, ...check }) => check),
      ...across,
      ...outage,
      everyApiTookPart(apis, played),
    ];
  },
};

/** Answers of an API that are at least compared, or the API has lost its voice. */
const fewest = 40;

function everyApiTookPart([, ...others]: readonly Api[], played: readonly PlayedScenario[]): Check {
  const counts = others.map(({ name }) => {
    const count = played.reduce((sum, { compared }) => sum + (compared.get(name) ?? 0), 0);
    return { name, count };
  });
  const silent = counts.filter(({ count }) => count < fewest);
  return {
    name: "answers compared with REST's",
    differences: silent.map(({ name, count }) => `${name} has answered ${count} times only`),
    figure: counts.map(({ name, count }) => `${name} ${count}`).join(", "),
  };
}

const statuses = ["available", "available", "pending", "sold"];

/** Thirty pets: more than a default page, and several pages of each status. */
async function furnish(store: Store, rest: Api): Promise<Known> {
  const authorization = [`Bearer ${await (await store.openAccount(roomy)).issueKey()}`];
  const send = { authorization, address: newAddress() };
  for (let index = 0; index < 30; index += 1) {
    const status = statuses[index % statuses.length];
    const input = `{"name":"pet ${index} é","categoryId":${9_007_199_254_740_990n + BigInt(index)},"status":"${status}"}`;
    await rest.send({ ...send, operation: { kind: "create", input } });
  }
  const cursorOf = async (query: Readonly<Record<string, string>>): Promise<string> => {
    const answer = await rest.send({ ...send, operation: { kind: "list", query } });
    const cursor = answer?.outcome.kind === "success" ? answer.outcome.nextCursor : undefined;
    if (typeof cursor !== "string") throw new Error("REST tells no cursor of a list that has another page");
    return cursor;
  };
  return { cursor: await cursorOf({ limit: "3" }), pendingCursor: await cursorOf({ limit: "3", status: '"pending"' }) };
}
