import { serverAudits } from "graphql-http";
import type { Check, Section } from "../section.js";
import { judge } from "./judge.js";

const roomy = { perMinute: 100_000, perDay: 1_000_000 };

export const audits: Section = {
  name: "audits",
  about: "GraphQL over HTTP, as the graphql-http package audits servers: every MUST and every SHOULD",
  async run({ store, startServices }) {
    await using services = await startServices(["graphql"]);
    const apiKey = await (await store.openAccount(roomy)).issueKey();
    const checks: Check[] = [];
    const all = serverAudits({ url: `${services.originOf("graphql")}/graphql`, fetchFn: fetchWith(apiKey) });
    for (const { id, name, fn } of all) {
      // What a server MAY do it may leave undone.
      if (name.startsWith("MAY ")) continue;
      const result = await fn();
      checks.push(judge({ id, name, fault: result.status === "ok" ? undefined : result.reason }));
    }
    return checks;
  },
};

/** The audits know nothing of keys. */
function fetchWith(apiKey: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${apiKey}`);
    return fetch(input, { ...init, headers });
  };
}
