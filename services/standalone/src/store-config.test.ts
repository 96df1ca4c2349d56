import { expect, it } from "vitest";
import { readStoreConfig } from "./store-config.js";

const warningFor = (userId: number | undefined, environment: Readonly<Record<string, string>>) =>
  readStoreConfig(environment, userId).warning;

it("lets any other user listen on every address, without a warning", () => {
  expect(warningFor(1_000, { HOST: "0.0.0.0" })).toBeUndefined();
});

it.each(["127.0.0.1", "::1", "localhost"])("warns root that listens on %s", (host) => {
  expect(warningFor(0, { HOST: host })).toMatch(/^Warning: .* runs as root/);
});

it.each(["0.0.0.0", "::", "192.0.2.1"])("refuses root that would listen on %s", (host) => {
  const another = `or as another user, such as su USER -c 'HOST=${host} npm start'.`;
  const message = `The pet store does not listen on ${host} as root: start it with HOST=127.0.0.1, ${another}`;
  expect(() => warningFor(0, { HOST: host })).toThrow(message);
});

it("says to root that a name is no address", () => {
  const message = "HOST=nosuch is no address. For root, it must be 127.0.0.1 or ::1.";
  expect(() => warningFor(0, { HOST: "nosuch" })).toThrow(message);
});

it("refuses root that would show its metrics to other machines", () => {
  const environment = { METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0" };
  expect(() => warningFor(0, environment)).toThrow("start it with METRICS_HOST=127.0.0.1, ");
});

it.each([
  [{}, "http://127.0.0.1:3000"],
  [{ HOST: "::1", PORT: "3001" }, "http://[::1]:3001"],
  [{ PUBLIC_URL: "https://pets.example" }, "https://pets.example"],
  [{ HOST: "0.0.0.0" }, undefined],
])("knows its own address for links: %j", (environment, publicUrl) => {
  expect(readStoreConfig(environment, 1_000).http.publicUrl).toBe(publicUrl);
});

it.each([
  [{}, true],
  [{ TEST_STORE: "false" }, false],
])("is a test store unless TEST_STORE is false: %j", (environment, isTestStore) => {
  expect(readStoreConfig(environment, 1_000).isTestStore).toBe(isTestStore);
});
