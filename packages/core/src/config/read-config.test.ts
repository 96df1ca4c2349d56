import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig, readDatabaseConfig, settings } from "./read-config.js";

const DATABASE_URL = "postgres://user:secret@localhost/petstore";

describe("the configuration", () => {
  const old = { DATABASE_STATEMENT_TIMEOUT_MS: "700" };
  const sentinels = "redis+sentinel://:a,b@one:26379,two:26379/name";
  it.each<[rule: string, environment: object, read: object]>([
    ["no value in an empty variable", { PORT: "", TRUST_PROXY: "" }, { http: { port: 3000, trustedProxies: [] } }],
    ["1,000 connections of an address", {}, { http: { maxConnectionsPerAddress: 1_000 } }],
    [
      "a list, and no limit of connections behind a trusted proxy",
      { TRUST_PROXY: "10.0.0.0/8, ::1,10.1.1.1" },
      { http: { trustedProxies: ["10.0.0.0/8", "::1", "10.1.1.1"], maxConnectionsPerAddress: 0 } },
    ],
    ["0 connections as no limit", { MAX_CONNECTIONS_PER_ADDRESS: "0" }, { http: { maxConnectionsPerAddress: 0 } }],
    ["an old name as two limits", old, { database: { readTimeoutMs: 700, writeTimeoutMs: 700 } }],
    ["an address without spaces", { DATABASE_URL: ` ${DATABASE_URL}\n` }, { database: { url: DATABASE_URL } }],
    ["a new name first", { ...old, DATABASE_WRITE_TIMEOUT_MS: "900" }, { database: { writeTimeoutMs: 900 } }],
    [
      "sentinels as one address, also with a comma in the password",
      { REDIS_URL: sentinels, REDIS_SENTINEL_USERNAME: "user" },
      { quota: { redis: { urls: [sentinels], isCluster: false, sentinelUsername: "user" } } },
    ],
    [
      "a URL without its last slash",
      { PUBLIC_URL: "https://a.example/" },
      { http: { publicUrl: "https://a.example" } },
    ],
    [
      "a contact in one line",
      { SECURITY_CONTACT: "mailto:security@a.example\nExpires: never" },
      { http: { securityContact: "mailto:security@a.exampleExpires: never" } },
    ],
  ])("reads %s", (_rule, environment, read) => {
    expect(readConfig({ DATABASE_URL, ...environment })).toMatchObject(read);
  });

  it.each([
    "PORT=3e3",
    "DATABASE_POOL_SIZE=0",
    "BAN_STRIKES=many",
    "DATABASE_URL=postgres://user:50%ff@localhost/petstore",
    "REDIS_URL=one:6379",
    "REDIS_URL=redis://one:6379,redis://50%off@two:6379",
    "REDIS_URL=redis+sentinel://one:26379,two:26379",
    "PUBLIC_URL=api.example.com",
    "PUBLIC_URL=file:///etc",
    "PUBLIC_URL=https://api.example.com/base",
    "PUBLIC_URL=https://api.example.com/?a=1",
    "PUBLIC_URL=https://user@api.example.com",
    "SECURITY_CONTACT=security@a.example",
    "SECURITY_CONTACT=http://a.example",
    "TRUST_PROXY=true",
    "TRUST_PROXY=0.0.0.0/0",
    "TRUST_PROXY=10.0.0.0/8/8",
    "OTEL_EXPORTER_OTLP_HEADERS=secret",
    "OTEL_EXPORTER_OTLP_HEADERS=name=a%0Ab",
    "OTEL_TRACES_SAMPLER_ARG=1.5",
    "LOG_PRETTY=yes",
    ...["now", "2030-12-05", "2030-12-05T00:00:00", "2030-12-05T00:00:00+01:00", "2030-02-30T00:00:00Z"].map(
      (time) => `TEST_CLOCK=${time}`,
    ),
  ])("refuses %s", (setting) => {
    const [name = "", ...value] = setting.split("=");
    expect(() => readConfig({ DATABASE_URL, [name]: value.join("=") })).toThrow(`  ${name} must`);
  });

  it("reads a secret from the file its _FILE variable names, without the line break at its end", () => {
    using file = temporaryFile(`${DATABASE_URL}\n`);
    expect(readConfig({ DATABASE_URL_FILE: file.name }).database.url).toBe(DATABASE_URL);
  });

  it("reports every fault in one line, by name, and shows neither a value nor the name of a file", () => {
    using garbage = temporaryFile("mysql://secret");
    using empty = temporaryFile("\n");
    const read = () =>
      readConfig({
        DATABASE_URL_FILE: garbage.name,
        DATABASE_DIRECT_URL: DATABASE_URL,
        DATABASE_DIRECT_URL_FILE: empty.name,
        REDIS_URL_FILE: "/nowhere/redis",
        REDIS_SENTINEL_PASSWORD_FILE: empty.name,
        PORT: "70000",
      });
    expect(read).toThrow(
      [
        "The configuration is not usable:",
        "  DATABASE_URL must be a URL that begins with postgres://",
        "  DATABASE_DIRECT_URL and DATABASE_DIRECT_URL_FILE are both set: leave one out",
        "  PORT must be a whole number from 0 to 65535",
        "  REDIS_URL_FILE names a file that cannot be read (ENOENT)",
        "  REDIS_SENTINEL_PASSWORD_FILE names a file that is empty",
      ].join("\n"),
    );
  });

  it("has a description and the default of every variable in .env.example", () => {
    const example = readFileSync(new URL("../../.env.example", import.meta.url), "utf8");
    const described = settings.map(({ name, type, isSecret }) => {
      const file = isSecret ? `# Or ${name}_FILE: the name of a file that holds it.\n` : "";
      const absent = type.safeParse(undefined);
      return `${file}${absent.success ? "#" : ""}${name}=${absent.data ?? ""}`;
    });
    const [, ...paragraphs] = example.trimEnd().split("\n\n");
    expect(paragraphs.map((text) => text.replace(/^# [A-Z0-9].*\n(# (?!Or ).*\n)*/, ""))).toEqual(described);
  });

  it.each([{}, { TEST_STORE: "false" }])("refuses TEST_CLOCK unless this is a test store: %j", (store) => {
    expect(() => readConfig({ DATABASE_URL, ...store, TEST_CLOCK: "2030-12-05T00:00:00Z" })).toThrow(
      "The configuration is not usable:\n  TEST_CLOCK must be left out: only a test store, with TEST_STORE=true, may have",
    );
  });

  it("reads TEST_CLOCK in a test store", () => {
    const environment = { DATABASE_URL, TEST_STORE: "true", TEST_CLOCK: "2030-12-05T00:00Z" };
    expect(readConfig(environment).http.deprecation.testClockMs).toBe(Date.UTC(2030, 11, 5));
  });

  it("requires the address of the database, and for the command line nothing else", () => {
    expect(() => readConfig({})).toThrow("  DATABASE_URL is required");
    expect(readDatabaseConfig({ DATABASE_URL, PORT: "x" })).toMatchObject({ url: DATABASE_URL });
  });
});

function temporaryFile(content: string): Disposable & { readonly name: string } {
  const directory = mkdtempSync(join(tmpdir(), "petstore-config-"));
  const name = join(directory, "secret");
  writeFileSync(name, content);
  return { name, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}
