import { type Answer, createResponseCheck, type OpenApi, type ResponseCheck } from "@petstore/harness/response-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { causes, otherSuccesses, type Scene, soundRequests } from "./causes.js";
import { type RestService, startRest } from "./rest-service.js";

const afterRemovalMs = Date.UTC(2031, 0, 1) - Date.now();

describe("every answer of the running service is as its own document says", () => {
  let service: RestService;
  let later: RestService;
  let scene: Scene;
  let check: ResponseCheck;
  let counted = 0;
  const violations: string[] = [];

  beforeAll(async () => {
    const environment = {
      BAN_STRIKES: "1",
      BAN_STRIKES_PER_UNIT: "0",
      BAN_GRACE_MS: "0",
      DATABASE_READ_TIMEOUT_MS: "3000",
      DATABASE_WRITE_TIMEOUT_MS: "3000",
    };
    service = await startRest({ environment });
    later = await startRest({ databaseUrl: service.databaseUrl, clockOffsetMs: afterRemovalMs });
    const [key, expiredKey, revokedKey] = [
      await service.issueKey(),
      await service.issueKey({ expiresAt: new Date(0) }),
      await service.issueKey(),
    ];
    await service.execute("update api_keys set revoked_at = now() where id = (select max(id) from api_keys)");
    scene = { service, later, key, expiredKey, revokedKey };
    check = createResponseCheck((await (await fetch(`${service.origin}/openapi.json`)).json()) as OpenApi);
    await causes.success?.(scene, soundRequests.createPet as { method: string; path: string });
  });
  afterAll(async () => {
    await later?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    process.stdout.write(`\n${counted} answers held against the OpenAPI document: ${violations.length} violations\n`);
  });

  it("each status and each code of each operation", async () => {
    const half = check.documented.filter(({ code }) => code === "REQUEST_TIMEOUT");
    const waited = half.map(async (one) => judge(one, await bringAbout(one)));
    // One after another: some take the database away from under the others.
    for (const one of check.documented.filter((documented) => !half.includes(documented))) {
      judge(one, await bringAbout(one));
    }
    await Promise.all(waited);
    expect(violations).toEqual([]);
    expect(counted).toBe(check.documented.length);
  });

  it("a next page, a replay, the ends of int64", async () => {
    const answers = await otherSuccesses(scene);
    for (const [operationId, answer] of answers) record(operationId, answer);
    expect(violations).toEqual([]);
    expect(answers.some(([, { headers }]) => headers["idempotency-replayed"] === "true")).toBe(true);
    expect(answers.some(([, { headers }]) => headers.link?.includes('rel="next"'))).toBe(true);
    expect(answers.some(([, { text }]) => text.includes("-9223372036854775808"))).toBe(true);
  });

  it("would be found out if it were not", async () => {
    const sound = await bringAbout({ operationId: "createPet", status: 201, code: undefined });
    const { "x-ratelimit-reset": _, ...incomplete } = sound.headers;
    const wrong: Answer[] = [
      { ...sound, status: 202 },
      { ...sound, headers: incomplete },
      { ...sound, headers: { ...sound.headers, "x-ratelimit-limit": "many" } },
      { ...sound, headers: { ...sound.headers, "x-new": "1" } },
      { ...sound, headers: { ...sound.headers, "content-type": "text/html" } },
      { ...sound, text: sound.text.replace('"name"', '"title"') },
      { ...sound, text: sound.text.replace("}", ',"age":1}') },
      { ...sound, status: 400, text: '{"code":"INVALID_CURSOR","message":"","status":400}' },
      { ...sound, status: 400, text: '{"code":"INVALID_JSON","message":"","status":401}' },
    ];
    expect(check.violations("createPet", sound)).toEqual([]);
    for (const answer of wrong) expect(check.violations("createPet", answer)).not.toEqual([]);
  });

  function bringAbout({ operationId, code = "success" }: ResponseCheck["documented"][number]): Promise<Answer> {
    const [cause, request] = [causes[code], soundRequests[operationId]];
    if (cause === undefined || request === undefined) throw new Error(`nothing brings ${code} about`);
    return cause(scene, request);
  }

  function judge({ operationId, status, code }: ResponseCheck["documented"][number], answer: Answer): void {
    const isIt = answer.status === status && (code === undefined || answer.text.includes(`"${code}"`));
    if (!isIt) violations.push(`${operationId} ${code ?? status} was answered ${answer.status} ${answer.text}`);
    record(operationId, answer);
  }

  function record(operationId: string, answer: Answer): void {
    counted++;
    violations.push(
      ...check.violations(operationId, answer).map((fault) => `${operationId} ${answer.status}: ${fault}`),
    );
  }
});
