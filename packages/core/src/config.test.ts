import { describe, expect, it } from "vitest";
import { readConfig } from "./config.js";

const DATABASE_URL = "postgres://user:secret@localhost/petstore";

describe("the configuration", () => {
  it("needs nothing but the database's address", () => {
    expect(readConfig({ DATABASE_URL })).toMatchObject({
      database: { url: DATABASE_URL, poolSize: 10 },
      http: { host: "127.0.0.1", port: 3000, publicUrl: undefined, trustedProxies: [] },
      quota: { anonymousLimits: { perMinute: 300, perDay: 10_000 }, banPolicy: { strikes: 20 } },
      logLevel: "info",
    });
  });

  it("takes an empty variable for an absent one", () => {
    expect(readConfig({ DATABASE_URL, PORT: "", TRUST_PROXY: "" }).http.port).toBe(3000);
  });

  it("reads a list of trusted proxies, and the public address without its last slash", () => {
    const { http } = readConfig({
      DATABASE_URL,
      TRUST_PROXY: "10.0.0.0/8, ::1,192.168.1.1",
      PUBLIC_URL: "https://api.example.com/",
    });
    expect(http).toMatchObject({
      trustedProxies: ["10.0.0.0/8", "::1", "192.168.1.1"],
      publicUrl: "https://api.example.com",
    });
  });

  it("reports every fault at once, by name, and repeats no value", () => {
    const faulty = { DATABASE_URL: "mysql://secret", PORT: "70000", TRUST_PROXY: "10.0.0.0/33", LOG_LEVEL: "loud" };
    const read = () => readConfig(faulty);
    for (const name of Object.keys(faulty)) expect(read).toThrow(`  ${name} must`);
    expect(read).not.toThrow(/secret|70000|loud/);
  });

  it.each([
    ["PORT", "3e3"],
    ["PORT", "-1"],
    ["PORT", " 80"],
    ["DATABASE_POOL_SIZE", "0"],
    ["ANONYMOUS_REQUESTS_PER_MINUTE", "0"],
    ["BAN_STRIKES", "many"],
    ["PUBLIC_URL", "api.example.com"],
    ["PUBLIC_URL", "file:///etc"],
    ["TRUST_PROXY", "true"],
    ["PUBLIC_URL", "https://api.example.com/base"],
    ["PUBLIC_URL", "https://api.example.com/?a=1"],
    ["PUBLIC_URL", "https://user@api.example.com"],
    ["TRUST_PROXY", "0.0.0.0/0"],
    ["TRUST_PROXY", "10.0.0.0/8/8"],
    ["TRUST_PROXY", "1"],
  ])("refuses %s=%s", (name, value) => {
    expect(() => readConfig({ DATABASE_URL, [name]: value })).toThrow(`  ${name} must`);
  });

  it("says that the database's address is required", () => {
    expect(() => readConfig({})).toThrow("  DATABASE_URL is required");
  });
});
