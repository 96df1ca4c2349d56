import { describeWithRedis } from "@petstore/harness";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Oracle } from "../src/fuzz/fault.js";
import { fuzz, startApis } from "../src/fuzz/fuzz.js";
import { countFaults, formatReport, type Result } from "../src/fuzz/report.js";
import { type OpenedStage, openStage, type Services } from "../src/stage.js";
import { openPlantingProxy, type Plant, type Reply } from "./planting-proxy.js";

interface PlantedFault extends Plant {
  readonly oracle: Oracle;
}

const leak = { "x-debug": "pets_test_nonsense" };

/** To each API. */
const requests = 20_000;

/** This seed draws the inputs that faults are planted behind, and a run ends only when they are found. */
const plantedSeed = 1;

/** For a machine that is busy with other tests. Nothing here depends on time, so a run that is stopped has hung. */
const timeoutMs = 1_200_000;

describeWithRedis("fuzzing both APIs", () => {
  let stage: OpenedStage;
  let services: Services;

  beforeAll(async () => {
    stage = await openStage();
    services = await startApis(stage);
  });

  afterAll(async () => {
    await services?.[Symbol.asyncDispose]();
    await stage?.[Symbol.asyncDispose]();
  });

  it.each<["rest" | "graphql", readonly PlantedFault[]]>([
    [
      "rest",
      [
        { oracle: "5xx", when: /limit=2\d\b/, plant: (reply) => Object.assign(reply, { status: 500 }) },
        { oracle: "headers", when: /limit=3\d\b/, plant: (reply) => delete reply.headers["x-ratelimit-reset"] },
        { oracle: "undocumented", when: /limit=4\d\b/, plant: (reply) => Object.assign(reply, { text: "<html>" }) },
        { oracle: "leak", when: /limit=5\d\b/, plant: (reply) => Object.assign(reply.headers, leak) },
      ],
    ],
    [
      "graphql",
      [
        { oracle: "verdict", when: /"status":"sold"/, plant: refuse },
        { oracle: "pet", when: /"status":"pending"/, plant: round },
      ],
    ],
  ])(
    "faults planted behind inputs of %s are found, counted under their oracles, and made small",
    {
      timeout: timeoutMs,
    },
    async (api, faults) => {
      const origins = { rest: services.originOf("rest"), graphql: services.originOf("graphql") };
      await using proxy = await openPlantingProxy(origins[api], faults);
      const planted = { ...origins, [api]: proxy.origin };
      const result = await run({ seed: plantedSeed, until: faults.map(({ oracle }) => oracle), origins: planted });
      for (const { oracle, when } of faults) {
        expect(countFaults(result)[oracle]).toBeGreaterThan(0);
        const finding = result.findings.find((one) => one.oracle === oracle && when.test(readCurl(one.curl)));
        if (finding === undefined)
          throw new Error(`no finding shows the input that the fault was planted behind: ${when}`);
        const { kind, seed, path } = finding;
        expect(formatReport(result)).toContain(`--replay ${kind}/${seed}/${path}`);
      }
    },
  );

  it("the same seed draws the same failing case", { timeout: timeoutMs }, async () => {
    const origins = { rest: services.originOf("rest"), graphql: services.originOf("graphql") };
    await using proxy = await openPlantingProxy(origins.rest, [
      { when: /limit=[4-9]/, plant: (reply) => Object.assign(reply, { status: 500 }) },
    ]);
    const planted = { ...origins, rest: proxy.origin };
    const { findings } = await run({ seed: plantedSeed, until: ["5xx"], apis: ["rest"], origins: planted });
    const first = findings.find(({ oracle }) => oracle === "5xx");
    if (first === undefined) throw new Error("the planted fault was not found");
    const { kind, seed, path } = first;
    const again = await run({ origins: planted, replay: { kind, seed, path } });
    expect(again.findings.map(({ oracle }) => oracle)).toContain("5xx");
  });

  it(`nothing of what is sent, ${requests.toLocaleString("en")} requests to each API, has an answer it must not have`, {
    timeout: timeoutMs,
  }, async () => {
    const result = await run({});
    process.stdout.write(`${formatReport(result)}\n`);
    expect(result.findings).toEqual([]);
    expect(Math.min(result.sent.rest, result.sent.graphql)).toBeGreaterThanOrEqual(requests);
  });

  function run(options: Partial<Parameters<typeof fuzz>[0]>): Promise<Result> {
    return fuzz({
      origins: { rest: services.originOf("rest"), graphql: services.originOf("graphql") },
      store: stage.store,
      services: services.all,
      seed: undefined,
      requests,
      apis: ["rest", "graphql"],
      maxSeconds: undefined,
      replay: undefined,
      until: [],
      complain: () => {},
      signal: new AbortController().signal,
      ...options,
    });
  }
});

/** Bodies that are no text for a terminal are printed in base64. */
function readCurl(curl: readonly string[]): string {
  const decode = (_all: string, body: string) => Buffer.from(body, "base64").toString();
  return curl.join("\n").replaceAll(/printf %s (\S+) \| base64 -d/g, decode);
}

/** As an API with another rule would. */
function refuse(reply: Reply): void {
  const errors = [{ message: "no", extensions: { code: "VALIDATION_FAILED", status: 400 } }];
  Object.assign(reply, { text: JSON.stringify({ errors, data: null }) });
}

/** As `JSON.parse` would have it. */
function round(reply: Reply): void {
  reply.text = reply.text.replaceAll(
    /"categoryId":"(-?\d{17,})"/g,
    (_all, digits) => `"categoryId":"${BigInt(Number(digits))}"`,
  );
}
