import { describeWithRedis } from "@petstore/harness";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openGraphqlApi } from "../src/apis/graphql-api.js";
import { openRestApi } from "../src/apis/rest-api.js";
import { runConformance } from "../src/conformance.js";
import { openDescribedAnswers } from "../src/described-answers.js";
import { playAcrossApis } from "../src/parity/across-apis.js";
import { keyScenarios } from "../src/parity/key-scenarios.js";
import { issueKey, play, type Surroundings } from "../src/parity/play.js";
import { type OpenedStage, openStage, type Services } from "../src/stage.js";

describeWithRedis("parity, over processes", () => {
  let stage: OpenedStage;
  const started: Services[] = [];

  beforeAll(async () => {
    stage = await openStage();
  });

  afterAll(async () => {
    for (const services of started) await services[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  });

  it("an API that counts addresses by another limit, and accounts for itself, is reported by its rows", async () => {
    const rest = await start("rest", {});
    const graphql = await start("graphql", { ANONYMOUS_REQUESTS_PER_MINUTE: "17", REDIS_URL: "" });
    const surroundings: Surroundings = {
      store: stage.store,
      apis: [openRestApi(rest, { described: stage.described }), openGraphqlApi(graphql)],
      known: { cursor: "", pendingCursor: "" },
      issueKey: (kind, limits) => issueKey(kind, limits, stage.store),
    };
    const [noKey] = keyScenarios;
    if (noKey === undefined) throw new Error("the table has no rows about keys");
    const check = await play(noKey, surroundings);
    expect(check.differences).toContain('step 1: x-ratelimit-limit: "300" at REST, "17" at graphql');

    const across = await playAcrossApis(surroundings);
    const differing = across.filter(({ differences }) => differences.length > 0).map(({ name }) => name);
    expect(differing).toEqual([
      "across APIs: they spend the same quota: rest, then graphql",
      "across APIs: they spend the same quota: graphql, then rest",
    ]);
  });

  it("an answer that the service's own document does not know is a difference, and so is hearing none", async () => {
    const origin = await start("rest", {});
    const described = openDescribedAnswers();
    await described.read(origin);
    expect(described.check().differences).toEqual(["no answer was heard"]);

    const list = { method: "GET", path: "/v1/pets?limit=1" };
    const response = await fetch(`${origin}${list.path}`);
    const sound = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    };
    described.hear(origin, list, sound);
    described.hear(origin, { ...list, method: "DELETE" }, { ...sound, status: 405 });
    expect(described.check()).toMatchObject({
      differences: [],
      figure: "1 answers (listPets 1), 0 violations; 1 more were of methods it does not describe",
    });

    const { "x-ratelimit-reset": _, ...incomplete } = sound.headers;
    described.hear(origin, list, { ...sound, headers: incomplete });
    described.hear(origin, list, { ...sound, status: 418 });
    described.hear(origin, list, { ...sound, text: "Not found" });
    expect(described.check().differences).toEqual([
      "listPets 401: X-RateLimit-Reset is missing, 1 times",
      "listPets 418: listPets does not describe 418, 1 times",
      "listPets 401: its body is no JSON, 1 times",
    ]);
  });

  async function start(name: "rest" | "graphql", environment: Readonly<Record<string, string>>): Promise<string> {
    const services = await stage.startServices([name], environment);
    started.push(services);
    return services.originOf(name);
  }
});

it("an unknown section is answered with the names and exit code 2", async () => {
  const complained: string[] = [];
  const exitCode = await runConformance(["--only", "nothing"], {
    print: () => {},
    complain: (text) => complained.push(text),
    signal: new AbortController().signal,
  });
  expect({ exitCode, complained }).toEqual({ exitCode: 2, complained: [expect.stringContaining("parity")] });
});
