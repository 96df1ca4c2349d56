import { expect, it } from "vitest";
import { checkUser } from "./store-config.js";

const listeningOn = (host: string) => ({ host, metricsHost: "127.0.0.1" });

it("lets every other user listen wherever it is told to, without a warning", () => {
  expect(checkUser(1_000, listeningOn("0.0.0.0"))).toBeUndefined();
  // Windows has no user ids.
  expect(checkUser(undefined, listeningOn("0.0.0.0"))).toBeUndefined();
});

it.each(["127.0.0.1", "::1", "localhost"])("warns root that listens on %s", (host) => {
  expect(checkUser(0, listeningOn(host))).toMatch(/^Warning: .* runs as root/);
});

it.each(["0.0.0.0", "::", "192.0.2.1"])("refuses root that would listen on %s", (host) => {
  expect(() => checkUser(0, listeningOn(host))).toThrow(`does not listen on ${host} as root`);
});

it("refuses root that would show its metrics to other machines", () => {
  expect(() => checkUser(0, { host: "127.0.0.1", metricsHost: "0.0.0.0" })).toThrow("leave METRICS_HOST out");
});
