// A program that took the port of PostgreSQL, for example after a crash, asks for the password.
import { describeWithProgram } from "@petstore/harness";
import { makeCertificate } from "@petstore/harness/network";
import { type ImpostorOptions, openImpostor } from "@petstore/harness/postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfig } from "../src/config/read-config.js";
import { openCore } from "../src/core.js";
import { createClient } from "../src/database/connection.js";
import { openDatabase } from "../src/database/database.js";
import { migrate, readMigrations } from "../src/database/migrate.js";
import { limitedTo, sqlOf, unavailable } from "./database-fixture.js";
import { silentLog } from "./logs.js";

const password = "a-secret-password";
const refusal =
  /^the server asks for the password (in clear text|as an MD5 digest) and does not prove that it is the database, .*sslmode=verify-full/;

describe.each(["cleartext", "md5"] as const)("a server that asks for a %s password", (asksFor) => {
  it.each<[name: string, connect: (url: string) => Promise<unknown>]>([
    ["a single connection", (url) => createClient({ connectionString: url }).connect()],
    ["a migration", (url) => migrate(url)],
    ["the search for migrations", (url) => readMigrations(url)],
  ])("gets none from %s, which names the cure", async (_name, connect) => {
    const { url, received } = await openPort(asksFor);
    await expect(connect(url)).rejects.toThrow(refusal);
    expectNoPassword(received());
  });

  it("gets none from the pool and the shared connections, and requests are answered with 503", async () => {
    const { url, received } = await openPort(asksFor);
    await using database = openDatabase({ url, poolSize: 6, ...limitedTo(20_000) }, silentLog);
    for (const access of ["read", "write"] as const) {
      const running = database.run(sqlOf(access, "select 1 as one"), []);
      await expect(running).rejects.toEqual(unavailable);
      await expect(running).rejects.toHaveProperty("cause.message", expect.stringMatching(refusal));
    }
    expectNoPassword(received());
  });

  it("gets none from a service, which is not ready and logs the cause and the cure once", async () => {
    const { url, received } = await openPort(asksFor);
    const logged: object[] = [];
    const record = ({ error }: { error?: Error }, message: string) =>
      void logged.push({ message, cause: error?.message });
    const log = { info: record, warn: record, error: record };
    const core = await openCore(readConfig({ DATABASE_URL: url }), { log, now: Date.now });
    onTestFinished(() => core[Symbol.asyncDispose]());
    const attempts = () => received().split("petstore-health").length - 1;
    await expect.poll(attempts, { timeout: 60_000 }).toBeGreaterThan(3);
    expect(core.health().isDatabaseReachable).toBe(false);
    const cause = expect.stringMatching(refusal);
    expect(logged).toEqual([
      { message: "the database cannot serve requests", cause },
      { message: "not listening for changes: they are seen within 5 s", cause },
    ]);
    expectNoPassword(received());
  });
});

describeWithProgram("openssl", "over TLS, a server", () => {
  it("whose certificate is checked gets the password that it asks for", async () => {
    const { url, certificateFile, received } = await openTlsPort();
    void createClient({ connectionString: `${url}?sslmode=verify-full&sslrootcert=${certificateFile}` })
      .connect()
      .catch(() => {});
    await expect.poll(received, { timeout: 60_000 }).toContain(password);
  });

  it("whose certificate is not checked gets none", async () => {
    const { url, received } = await openTlsPort();
    const client = createClient({ connectionString: `${url}?sslmode=no-verify` });
    await expect(client.connect()).rejects.toThrow(refusal);
    expectNoPassword(received());
  });
});

async function openPort(asksFor: ImpostorOptions["asksFor"], certificate?: ImpostorOptions["certificate"]) {
  const impostor = await openImpostor({ asksFor, certificate });
  onTestFinished(() => impostor[Symbol.asyncDispose]());
  return {
    url: `postgres://petstore_service:${password}@127.0.0.1:${impostor.port}/petstore`,
    received: impostor.received,
  };
}

async function openTlsPort() {
  const certificate = await makeCertificate({ days: 2 });
  onTestFinished(() => certificate[Symbol.asyncDispose]());
  return { certificateFile: certificate.file, ...(await openPort("cleartext", certificate)) };
}

function expectNoPassword(received: string): void {
  expect(received).toContain("petstore_service");
  expect(received).not.toContain(password);
  expect(received).not.toMatch(/md5[0-9a-f]{32}/);
}
