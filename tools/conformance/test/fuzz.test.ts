import { describeWithRedis } from "@petstore/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Oracle } from "../src/fuzz/fault.js";
import { fuzz, startApis } from "../src/fuzz/fuzz.js";
import { countFaults, formatReport, type Result } from "../src/fuzz/report.js";
import { type OpenedStage, openStage, type Services } from "../src/stage.js";
import { openPlantingProxy, type Reply } from "./planting-proxy.js";

/** To each API. */
const requests = 50_000;

/** Draws what a fault is planted behind: then it is found, however slow the machine, because the run ends no sooner. */
const plantedSeed = 1;

/** Of a machine that is busy with other tests: nothing here hangs on time, so a run that is stopped has hung. */
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

  it.each<[Oracle, RegExp, "rest" | "graphql", (reply: Reply) => void]>([
    ["5xx", /limit=5\d\b/, "rest", (reply) => Object.assign(reply, { status: 500 })],
    ["headers", /limit=5\d\b/, "rest", (reply) => delete reply.headers["x-ratelimit-reset"]],
    ["undocumented", /limit=5\d\b/, "rest", (reply) => Object.assign(reply, { text: "<html>" })],
    ["leak", /limit=5\d\b/, "rest", (reply) => Object.assign(reply.headers, { "x-debug": "pets_test_nonsense" })],
    ["verdict", /"status":"sold"/, "graphql", refuse],
    ["pet", /"status":"sold"/, "graphql", round],
  ])(
    "a fault planted behind one input is found, counted under %s, and made small",
    { timeout: timeoutMs },
    async (oracle, when, api, plant) => {
      const origins = { rest: services.originOf("rest"), graphql: services.originOf("graphql") };
      await using proxy = await openPlantingProxy(origins[api], when, plant);
      const planted = { ...origins, [api]: proxy.origin };
      const result = await run({ seed: plantedSeed, until: oracle, origins: planted });
      expect(countFaults(result)[oracle]).toBeGreaterThan(0);
      const finding = result.findings.find((one) => one.oracle === oracle && when.test(readCurl(one.curl)));
      if (finding === undefined) throw new Error(`no finding shows what the fault was planted behind: ${when}`);
      const { kind, seed, path } = finding;
      expect(formatReport(result)).toContain(`--replay ${kind}/${seed}/${path}`);
    },
  );

  it("the same seed draws the same failing case", { timeout: timeoutMs }, async () => {
    const origins = { rest: services.originOf("rest"), graphql: services.originOf("graphql") };
    await using proxy = await openPlantingProxy(origins.rest, /limit=[4-9]/, (reply) =>
      Object.assign(reply, { status: 500 }),
    );
    const planted = { ...origins, rest: proxy.origin };
    const { findings } = await run({ seed: plantedSeed, until: "5xx", apis: ["rest"], origins: planted });
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
      until: undefined,
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
