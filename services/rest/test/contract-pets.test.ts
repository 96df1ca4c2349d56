// The sentences of the interface about pets, in the interface's order. Other files test what the interface leaves open.
import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const create = (body: object | string) =>
  store.call("POST", "/v1/pets", { key, body: typeof body === "string" ? body : JSON.stringify(body) });
const get = (path: string) => store.call("GET", path, { key });
const errorBody = (status: number) => ({ code: expect.any(String), message: expect.any(String), status });

describe("All payloads are JSON (media type application/json)", () => {
  it.each([
    ["a list", "GET", "/v1/pets", undefined, 200],
    ["a created pet", "POST", "/v1/pets", '{"name":"Ada","categoryId":1}', 201],
    ["a pet", "GET", "/v1/pets/1", undefined, 200],
    ["an error", "GET", "/v1/pets/0", undefined, 404],
  ])("%s is application/json", async (_what, method, path, body, status) => {
    const answer = await store.call(method, path, { key, ...(body !== undefined && { body }) });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(() => JSON.parse(answer.text)).not.toThrow();
  });
});

describe("Resources and their fields", () => {
  it("a pet is the creation shape plus an identifier, and has no other field", async () => {
    const { json } = await create({ name: "Ada", categoryId: 7, status: "sold" });
    expect(json).toEqual({ id: expect.any(Number), name: "Ada", categoryId: 7, status: "sold" });
  });

  it("id is assigned by the service on creation, another one for each pet", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => idOf(await create(minimal))));
    expect(new Set(ids).size).toBe(20);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });

  it("id is never sent by the client", async () => {
    const answer = await create({ id: 4711, ...minimal });
    expect(answer).toMatchObject({ status: 400, json: errorBody(400) });
    expect((await get("/v1/pets/4711")).status).toBe(404);
  });

  it.each(["available", "pending", "sold"])("PetStatus has the value %s", async (status) => {
    expect(await create({ ...minimal, status })).toMatchObject({ status: 201, json: { status } });
  });

  it.each(["Available", "SOLD", "reserved", "", " sold", 1, true, null, ["sold"], {}])(
    "PetStatus has exactly these values: %j is refused",
    async (status) => {
      expect(await create({ ...minimal, status })).toMatchObject({ status: 400, json: errorBody(400) });
    },
  );

  it.each([
    [400, () => create("{}")],
    [401, () => store.call("GET", "/v1/pets")],
    [404, () => get("/v1/pets/0")],
    [405, () => store.call("DELETE", "/v1/pets", { key })],
  ])("Error is code, message and status, of which status equals the HTTP status %i", async (status, provoke) => {
    const answer = await provoke();
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual(errorBody(status));
  });
});

describe("1. List pets: GET /pets", () => {
  it("answers 200 with a JSON array of Pet objects", async () => {
    const answer = await get("/v1/pets");
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(expect.any(Array));
    for (const pet of answer.json as object[]) {
      expect(Object.keys(pet).sort()).toEqual(["categoryId", "id", "name", "status"]);
    }
  });

  it("limit is the maximum number of pets returned: minimum 1, maximum 100, default 20", async () => {
    await Promise.all(Array.from({ length: 101 }, () => create(minimal)));
    expect((await get("/v1/pets")).json).toHaveLength(20);
    expect((await get("/v1/pets?limit=1")).json).toHaveLength(1);
    expect((await get("/v1/pets?limit=100")).json).toHaveLength(100);
    expect((await get("/v1/pets?limit=0")).status).toBe(400);
    expect((await get("/v1/pets?limit=101")).status).toBe(400);
  });

  it.each(["available", "pending", "sold"])(
    "status=%s restricts the result to pets with that status",
    async (status) => {
      const ours = await create({ name: "the newest", categoryId: 1, status });
      const listed = (await get(`/v1/pets?limit=100&status=${status}`)).json as { id: number; status: string }[];
      expect(new Set(listed.map((pet) => pet.status))).toEqual(new Set([status]));
      if (status !== "available") expect(listed.map(({ id }) => id)).toContain(idOf(ours));
    },
  );
});

describe("Request body: none", () => {
  it.each(["/v1/pets?limit=1", "/v1/pets/1"])("GET %s gives the same response with a body", async (path) => {
    const { status, text } = await get(path);
    const headers = { "Content-Type": "text/plain" };
    expect(await store.call("GET", path, { key, headers, body: "any text" })).toMatchObject({ status, text });
  });
});

describe("2. Add a pet: POST /pets", () => {
  it("answers 201 with the created pet, including its assigned id", async () => {
    const created = await create({ name: "Bo", categoryId: 3, status: "pending" });
    expect(created.status).toBe(201);
    expect((await get(`/v1/pets/${idOf(created)}`)).text).toBe(created.text);
  });

  it.each([
    ["no body", ""],
    ["no name", '{"categoryId":1}'],
    ["no categoryId", '{"name":"Ada"}'],
    ["neither", "{}"],
  ])("answers 400 to a body that is missing required fields: %s", async (_what, body) => {
    expect(await create(body)).toMatchObject({ status: 400, json: errorBody(400) });
  });

  it.each([
    ["a name that is no string", { ...minimal, name: 1 }],
    ["a categoryId that is no integer", { ...minimal, categoryId: "1" }],
    ["a status that is none", { ...minimal, status: "gone" }],
  ])("answers 400 to a body that contains invalid values: %s", async (_what, body) => {
    expect(await create(body)).toMatchObject({ status: 400, json: errorBody(400) });
  });

  it("status is optional", async () => {
    expect((await create(minimal)).status).toBe(201);
  });
});

describe("3. Get a pet: GET /pets/{petId}", () => {
  it("answers 200 with the pet", async () => {
    const id = idOf(await create({ name: "Cy", categoryId: 2, status: "sold" }));
    const answer = await get(`/v1/pets/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ id, name: "Cy", categoryId: 2, status: "sold" });
  });

  it("answers 404 when the requested resource could not be found", async () => {
    expect(await get("/v1/pets/999999999")).toMatchObject({ status: 404, json: errorBody(404) });
  });

  it("is deprecated; the replacement is GET /pets with the status filter", async () => {
    const { headers } = await get("/v1/pets/1");
    expect(headers.deprecation).toBeDefined();
    const successor = /<([^>]*)>; rel="successor-version"/.exec(headers.link ?? "")?.[1];
    expect((await get(`${successor}?status=available`)).status).toBe(200);
  });
});

describe("States and transitions", () => {
  it.each(["PUT", "PATCH", "DELETE", "POST"])(
    "no operation changes an existing pet: %s on it answers 405",
    async (method) => {
      const created = await create(minimal);
      const path = `/v1/pets/${idOf(created)}`;
      expect((await store.call(method, path, { key, body: '{"status":"sold"}' })).status).toBe(405);
      expect((await get(path)).text).toBe(created.text);
    },
  );
});

const minimal = { name: "Ada", categoryId: 1 };

function idOf({ json }: { readonly json: unknown }): number {
  return (json as { id: number }).id;
}
