import type { Answer } from "@petstore/harness/network";
import { openHttpClient } from "@petstore/harness/network";
import { type Service, startService } from "@petstore/harness/processes";
import { createResponseCheck, type Documented, type OpenApi, type ResponseCheck } from "@petstore/harness/responses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { causes, type Fixture, otherSuccesses, validRequests } from "./causes.js";
import { type RestService, startRest } from "./rest-service.js";

const afterRemovalMs = Date.UTC(2031, 0, 1) - Date.now();

describe("the answers of the running service", () => {
  let service: RestService;
  let later: Service;
  let fixture: Fixture;
  let check: ResponseCheck;
  let counted = 0;
  const violations: string[] = [];

  beforeAll(async () => {
    service = await startRest({
      BAN_STRIKES: "1",
      BAN_STRIKES_PER_UNIT: "0",
      BAN_GRACE_MS: "0",
      DATABASE_READ_TIMEOUT_MS: "3000",
      DATABASE_WRITE_TIMEOUT_MS: "3000",
    });
    const { client, database } = service;
    later = await startService({
      environment: { DATABASE_URL: database.url, LOG_LEVEL: "silent" },
      clockOffsetMs: afterRemovalMs,
    });
    const [{ key }, { key: expiredKey }, { key: revokedKey }] = [
      await database.issueKey(),
      await database.issueKey({ expiresAt: new Date(0) }),
      await database.issueKey(),
    ];
    await database.execute("update api_keys set revoked_at = now() where id = (select max(id) from api_keys)");
    fixture = { client, laterClient: openHttpClient(later.origin), database, key, expiredKey, revokedKey };
    check = createResponseCheck((await (await fetch(`${service.origin}/openapi.json`)).json()) as OpenApi);
    await causes.success?.(fixture, validRequests.createPet as { method: string; path: string });
  });
  afterAll(async () => {
    fixture?.laterClient[Symbol.dispose]();
    await later?.stop();
    await service?.[Symbol.asyncDispose]();
    process.stdout.write(`\n${counted} answers checked with the OpenAPI document: ${violations.length} violations\n`);
  });

  it("match the document for each status and each code of each operation", async () => {
    const half = check.documented.filter(({ code }) => code === "REQUEST_TIMEOUT");
    const waited = half.map(async (one) => checkCause(one, await cause(one)));
    // One after another, because some make the database unavailable.
    for (const one of check.documented.filter((documented) => !half.includes(documented))) {
      checkCause(one, await cause(one));
    }
    await Promise.all(waited);
    expect(violations).toEqual([]);
    expect(counted).toBe(check.documented.length);
  });

  it("match the document for a next page, a replay and the ends of int64", async () => {
    const answers = await otherSuccesses(fixture);
    for (const [operationId, answer] of answers) record(operationId, answer);
    expect(violations).toEqual([]);
    expect(answers.some(([, { headers }]) => headers["idempotency-replayed"] === "true")).toBe(true);
    expect(answers.some(([, { headers }]) => headers.link?.includes('rel="next"'))).toBe(true);
    expect(answers.some(([, { text }]) => text.includes("-9223372036854775808"))).toBe(true);
  });

  it("fail the check with any change", async () => {
    const valid = await cause({ operationId: "createPet", status: 201, code: undefined });
    const { "x-ratelimit-reset": _, ...incomplete } = valid.headers;
    const wrong: Answer[] = [
      { ...valid, status: 202 },
      { ...valid, headers: incomplete },
      { ...valid, headers: { ...valid.headers, "x-ratelimit-limit": "many" } },
      { ...valid, headers: { ...valid.headers, "x-new": "1" } },
      { ...valid, headers: { ...valid.headers, "content-type": "text/html" } },
      { ...valid, text: valid.text.replace('"name"', '"title"') },
      { ...valid, text: valid.text.replace("}", ',"age":1}') },
      { ...valid, status: 400, text: '{"code":"INVALID_CURSOR","message":"","status":400}' },
      { ...valid, status: 400, text: '{"code":"INVALID_JSON","message":"","status":401}' },
    ];
    expect(check.violations("createPet", valid)).toEqual([]);
    for (const answer of wrong) expect(check.violations("createPet", answer)).not.toEqual([]);
  });

  function cause({ operationId, code = "success" }: Documented): Promise<Answer> {
    const [send, request] = [causes[code], validRequests[operationId]];
    if (send === undefined || request === undefined) throw new Error(`No request causes ${code}`);
    return send(fixture, request);
  }

  function checkCause({ operationId, status, code }: Documented, answer: Answer): void {
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
