import { expect, it } from "vitest";
import { breakingChanges } from "./breaking-changes.js";

const headerOf = (schema: object) => ({ components: { headers: { Link: { schema } } } });

it.each<[change: string, older: object, newer: object]>([
  ["a removed parameter", { parameters: [{ name: "x" }] }, { parameters: [] }],
  ["a removed field", { properties: { x: {} } }, { properties: {} }],
  ["a new required parameter", { parameters: [] }, { parameters: [{ name: "x", required: true }] }],
  ["a lower maximum", { maximum: 100 }, { maximum: 50 }],
  ["a new value of an enum", { enum: ["sold"] }, { enum: ["sold", "lost"] }],
  ["a new value of a header", headerOf({ enum: ["a"] }), headerOf({ enum: ["a", "b"] })],
])("%s breaks a client", (_change, older, newer) => {
  expect(breakingChanges(older, newer)).toHaveLength(1);
});

it.each<[change: string, older: object, newer: object]>([
  ["a new path", { paths: {} }, { paths: { "/owners": {} } }],
  ["a new operation", { paths: { "/pets": {} } }, { paths: { "/pets": { put: {} } } }],
  ["a new response", { responses: {} }, { responses: { 429: {} } }],
  ["a new field", { properties: {} }, { properties: { color: { type: "string" } } }],
  ["a new optional parameter", { parameters: [] }, { parameters: [{ name: "x" }] }],
  ["a new limit of a header", headerOf({ type: "string" }), headerOf({ type: "string", maxLength: 10 })],
  ["a new error code", { code: { "x-extensible-enum": ["A"] } }, { code: { "x-extensible-enum": ["A", "B"] } }],
])("%s breaks no client", (_change, older, newer) => {
  expect(breakingChanges(older, newer)).toEqual([]);
});
