import { setTimeout as sleep } from "node:timers/promises";
import type { Door } from "../doors/door.js";
import type { Check } from "../section.js";
import { checkThat, demand } from "../section.js";
import { withinOneMinute } from "../stage.js";
import type { Store } from "../store.js";
import { outageScenarios } from "./outage-scenarios.js";
import { issueKey, newAddress, play, roomy, type Surroundings } from "./play.js";
import type { Scenario } from "./scenario.js";

/** A service remembers a key for 5 s: the rows must be over by then, and their keys have been seen just before. */
const playedWithinMs = 8_000;

/** Stops PostgreSQL for real, plays the rows, starts it again, and sees every door answer. */
export async function playOutage(store: Store, surroundings: Surroundings): Promise<Check[]> {
  await withinOneMinute(playedWithinMs);
  const keys = new Map<string, string>();
  const nameOf = (door: Door, { name }: Scenario) => `${door.name} ${name}`;
  for (const door of surroundings.doors) {
    for (const scenario of outageScenarios) {
      if ((scenario.key ?? "valid") !== "valid") continue;
      const key = await (await store.openAccount(roomy)).issueKey();
      await listOne(door, key);
      keys.set(nameOf(door, scenario), key);
    }
  }
  await store.stop();
  const checks: Check[] = [];
  for (const scenario of outageScenarios) {
    const issue: Surroundings["issueKey"] = async (kind, limits, door) =>
      kind === "valid" ? keys.get(nameOf(door, scenario)) : issueKey(kind, limits, store);
    const { compared: _counted, ...check } = await play(scenario, { ...surroundings, issueKey: issue });
    checks.push(check);
  }
  await store.restart();
  for (const door of surroundings.doors) {
    const key = keys.values().next().value ?? "";
    checks.push(
      await checkThat(`outage: ${door.name} answers again once the database is back`, async () => {
        for (let attempt = 0; attempt < 30; attempt += 1) {
          const answer = await listOne(door, key);
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

function listOne(door: Door, key: string) {
  const operation = { kind: "list", query: { limit: "1" } } as const;
  return door.send({ operation, authorization: [`Bearer ${key}`], address: newAddress() });
}
