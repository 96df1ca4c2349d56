import { hash } from "node:crypto";
import { parse } from "graphql";
import { expect, it } from "vitest";
import { createDocumentStore } from "./document-store.js";

const text = "{ pets { id } }";
const digest = hash("sha256", text, "hex");
const parsed = { kind: "valid", text, document: parse(text), digest } as const;

it("has a document, behind any prefix, until the last operation that executes it has ended", async () => {
  const { apollo, holding } = createDocumentStore();
  const find = () => apollo.get(`a schema:${digest}`);
  const ends: ((error?: Error) => void)[] = [];
  const execute = () =>
    holding(
      parsed,
      () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    );
  const first = execute();
  const second = execute();
  expect(await find()).toBe(parsed.document);
  ends[0]?.(new Error("the operation failed"));
  await expect(first).rejects.toThrow("the operation failed");
  expect(await find()).toBe(parsed.document);
  ends[1]?.();
  await second;
  expect(await find()).toBeUndefined();
});
