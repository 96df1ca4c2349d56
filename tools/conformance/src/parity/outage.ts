import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../apis/api.js";
import type { Check } from "../section.js";
import { checkThat, demand } from "../section.js";
import { withinOneMinute } from "../stage.js";
import type { Store } from "../store.js";
import { outageScenarios } from "./outage-scenarios.js";
import { issueKey, newAddress, play, roomy, type Surroundings } from "./play.js";
import type { Scenario } from "./scenario.js";

/** A service remembers a key for 5 s: the rows must be over by then, and their keys have been seen just before. */
const playedWithinMs = 8_000;

/** Stops PostgreSQL for real, plays the rows, starts it again, and sees every API answer. */
export async function playOutage(store: Store, surroundings: Surroundings): Promise<Check[]> {
  await withinOneMinute(playedWithinMs);
  const keys = new Map<string, string>();
  const nameOf = (api: Api, { name }: Scenario) => `${api.name} ${name}`;
  for (const api of surroundings.apis) {
    for (const scenario of outageScenarios) {
      if ((scenario.key ?? "valid") !== "valid") continue;
      const key = await (await store.openAccount(roomy)).issueKey();
      await listOne(api, key);
      keys.set(nameOf(api, scenario), key);
    }
  }
  await store.stop();
  const checks: Check[] = [];
  for (const scenario of outageScenarios) {
    const issue: Surroundings["issueKey"] = async (kind, limits, api) =>
      kind === "valid" ? keys.get(nameOf(api, scenario)) : issueKey(kind, limits, store);
    const { compared: _counted, ...check } = await play(scenario, { ...surroundings, issueKey: issue });
    checks.push(check);
  }
  await store.restart();
  for (const api of surroundings.apis) {
    const key = keys.values().next().value ?? "";
    checks.push(
      await checkThat(`outage: ${api.name} answers again once the database is back`, async () => {
        for (let attempt = 0; attempt < 30; attempt += 1) {
          const answer = await listOne(api, key);
          if (answer?.outcome.kind === "success") return undefined;
          await sleep(100);
        }
        demand(false, "it does not, within 3 s");
        return undefined;
      }),
    );
  }
  return checks;
}

function listOne(api: Api, key: string) {
  const operation = { kind: "list", query: { limit: "1" } } as const;
  return api.send({ operation, authorization: [`Bearer ${key}`], address: newAddress() });
}
