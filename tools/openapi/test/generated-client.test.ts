// The build generates the types with openapi-typescript. `npm run check` compiles them with this test.
import createClient from "openapi-fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { components, paths } from "../dist/schema.js";
import { type RestService, startRest } from "./rest-service.js";

type Pet = components["schemas"]["Pet"];

describe("a client that openapi-typescript generates", () => {
  let service: RestService;
  beforeAll(async () => {
    service = await startRest();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  it("creates, lists and gets pets of the running service, with the types of the contract", async () => {
    const { key: apiKey } = await service.database.issueKey();
    const client = createClient<paths>({
      baseUrl: `${service.origin}/v1`,
      headers: { Authorization: `Bearer ${apiKey}` },
    });
    const created = await client.POST("/pets", { body: { name: "Rex", categoryId: 7 } });
    const pet: Pet | undefined = created.data;
    expect(pet).toEqual({ id: expect.any(Number), name: "Rex", categoryId: 7, status: "available" });
    const listed = await client.GET("/pets", { params: { query: { status: "available", limit: 5 } } });
    expect(listed.data).toEqual([pet]);
    const got = await client.GET("/pets/{petId}", { params: { path: { petId: pet?.id ?? 0 } } });
    expect(got.data).toEqual(pet);
    expect(got.response.headers.get("Sunset")).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
    const missing = await client.GET("/pets/{petId}", { params: { path: { petId: 404 } } });
    expect(missing.error?.code).toBe("PET_NOT_FOUND");
  });

  it("does not compile with what the contract forbids", () => {
    const client = createClient<paths>();
    const wrong = [
      // @ts-expect-error: name and categoryId are required.
      () => client.POST("/pets", { body: { name: "Rex" } }),
      // @ts-expect-error: lost is no PetStatus.
      () => client.GET("/pets", { params: { query: { status: "lost" } } }),
      // @ts-expect-error: there is no such path.
      () => client.GET("/orders"),
      // @ts-expect-error: a pet cannot be deleted.
      () => client.DELETE("/pets/{petId}", { params: { path: { petId: 1 } } }),
    ];
    expect(wrong).toHaveLength(4);
  });
});
