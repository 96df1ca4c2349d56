// Persisted queries by POST. In tools/checks/conformance/client, popular clients send them by GET.
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { errorsOf, openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

const post = (request: object) => store.call("POST", "/graphql", { key, body: JSON.stringify(request) });
const extensionsOf = (sha256Hash: unknown, version = 1) => ({ persistedQuery: { version, sha256Hash } });
const sha256 = (text: string) => hash("sha256", text, "hex");
const notFound = {
  errors: [{ message: "PersistedQueryNotFound", extensions: { code: "PERSISTED_QUERY_NOT_FOUND", status: 400 } }],
};

describe("a persisted query", () => {
  it("is executed with the variables and the operation of each request", async () => {
    const query = "query A($limit: Int!) { pets(limit: $limit) { name } } query B { none: pets { name } }";
    const extensions = extensionsOf(sha256(query).toUpperCase());
    await post({ query, extensions, operationName: "B" });
    const refused = await post({ extensions, operationName: "A", variables: { limit: 0 } });
    expect(errorsOf(refused)[0]?.message).toBe("limit must be an integer from 1 to 100");
    expect(await post({ extensions, operationName: "B" })).toMatchObject({ json: { data: { none: [] } } });
  });

  it("is not kept if its document is refused; a query that is not found costs one unit", async () => {
    const query = "{ cats { name } }";
    const extensions = extensionsOf(sha256(query));
    const { remaining } = (await post({ query, extensions })).rateLimit;
    const missed = { status: 200, json: notFound, rateLimit: { remaining: remaining - 1 } };
    expect(await post({ extensions })).toMatchObject(missed);
  });

  it.each([
    ["of another document", { query: "{ pets { id } }", extensions: extensionsOf(sha256("{ pets { name } }")) }],
    ["of another type", { extensions: extensionsOf(7) }],
    ["of another version", { extensions: extensionsOf(sha256("{ pets { id } }"), 2) }],
  ])("with a hash %s is refused", async (_which, request) => {
    expect(await post(request)).toMatchObject({ code: "VALIDATION_FAILED" });
  });
});
