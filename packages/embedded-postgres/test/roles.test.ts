import { once } from "node:events";
import { rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { connectWithScram } from "../src/connection.js";
import { openAlone, openForFile, postmasterPid, query, test } from "./test-server.js";

const running = await openForFile();

test("services get a role that reads and writes rows and creates, alters and drops nothing", async () => {
  await query(running.ownerUrl, "CREATE TABLE later (id bigint GENERATED ALWAYS AS IDENTITY, n int)");
  await query(running.ownerUrl, "CREATE SEQUENCE numbers");

  const insert = "INSERT INTO later (n) VALUES (1), (nextval('numbers')) RETURNING id";
  expect(await query(running.url, insert)).toHaveLength(2);
  await query(running.url, "UPDATE later SET n = 3 WHERE id = 1");
  await query(running.url, "DELETE FROM later WHERE id = 2");
  expect(await query(running.url, "SELECT n FROM later FOR UPDATE")).toEqual([{ n: 3 }]);
  await query(running.url, "LISTEN changes");
  await query(running.url, "NOTIFY changes");
  for (const refused of [
    "CREATE TABLE mine (id int)",
    "CREATE TEMPORARY TABLE mine (id int)",
    "CREATE SCHEMA mine",
    "CREATE DATABASE mine",
    "CREATE ROLE mine",
    "ALTER TABLE later ADD COLUMN more int",
    "DROP TABLE later",
    "TRUNCATE later",
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "SET ROLE petstore",
    "SET ROLE postgres",
  ]) {
    await expect(query(running.url, refused), refused).rejects.toMatchObject({ code: expect.stringMatching(/^42/) });
  }
});

test("the three roles have three passwords, and only their owner can read the files", async () => {
  const urls = [running.url, running.ownerUrl, running.administratorUrl].map((url) => new URL(url));
  expect(urls.map(({ username }) => username)).toEqual(["petstore_service", "petstore", "postgres"]);
  expect(new Set(urls.map(({ password }) => password)).size).toBe(3);
  for (const name of ["owner-password", "service-password", "superuser-password"]) {
    expect((await stat(join(running.directory, "cluster", name))).mode & 0o777).toBe(0o600);
  }
});

test("nobody connects without a password", async () => {
  const rules = "SELECT DISTINCT type, auth_method FROM pg_hba_file_rules ORDER BY type";
  expect(await query(running.administratorUrl, rules)).toEqual([
    { type: "host", auth_method: "scram-sha-256" },
    { type: "local", auth_method: "reject" },
  ]);
});

test("its addresses ignore PGSSLMODE and PGOPTIONS", async () => {
  vi.stubEnv("PGSSLMODE", "require");
  vi.stubEnv("PGOPTIONS", "-c default_transaction_read_only=on");
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const url of [running.url, running.ownerUrl, running.administratorUrl]) {
    expect(await query(url, "SHOW transaction_read_only")).toEqual([{ transaction_read_only: "off" }]);
  }
});

test("services connect to neither postgres nor template1, and create no large object", async () => {
  const inDatabase = (url: string, name: string) => Object.assign(new URL(url), { pathname: name }).href;
  await query(running.ownerUrl, "CREATE DATABASE later");
  for (const name of ["postgres", "template1"]) {
    await expect(query(inDatabase(running.url, name), "SELECT 1"), name).rejects.toMatchObject({ code: "42501" });
  }
  for (const call of ["lo_create(0)", "lo_creat(-1)", "lo_from_bytea(0, 'content')"]) {
    for (const url of [running.url, inDatabase(running.url, "later")]) {
      await expect(query(url, `SELECT ${call}`), call).rejects.toMatchObject({ code: "42501" });
    }
  }
});

test("data of version 1.0, which has no password of the superuser, is refused in one line", async ({ directory }) => {
  await rm(join(directory, "cluster", "superuser-password"));
  await expect(openAlone(directory)).rejects.toThrow(
    /^.*superuser-password is missing.* start it once with version 1\.1.*$/,
  );
});

test("a wrong password of the superuser is refused in one line, and no server stays behind", async ({ directory }) => {
  await writeFile(join(directory, "cluster", "superuser-password"), "wrong");
  await expect(openAlone(directory)).rejects.toThrow(/^password authentication failed for user "postgres"$/);
  await expect(postmasterPid(directory)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a removed password file of a service is replaced, and its role gets the new password", async ({ directory }) => {
  const first = await openAlone(directory);
  await first[Symbol.asyncDispose]();
  await rm(join(directory, "cluster", "service-password"));
  await using database = await openAlone(directory);
  expect(new URL(database.url).password).not.toBe(new URL(first.url).password);
  expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test.each([
  ["asks for the password in clear text", () => cleartextRequest],
  ["asks for an MD5 digest of it", () => md5Request],
  ["asks for SCRAM and for an MD5 digest", () => Buffer.concat([scramRequest, md5Request])],
  ["asks for none", () => noRequest],
])("a server that %s gets no password and no statement", async (_, request) => {
  await using impostor = await openImpostor(request());
  const connect = connectWithScram("service", "secret", impostor.port);
  await expect(connect).rejects.toThrow(/^The server (asked for a password without SCRAM|did not prove)/);
  expect(impostor.received()).toContain("petstore_service");
  expect(impostor.received()).not.toMatch(/secret|md5[0-9a-f]{32}|select/i);
});

// Messages of the PostgreSQL protocol, version 3: a type, the length, the content.
const cleartextRequest = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
const md5Request = Buffer.from([0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4]);
/** AuthenticationSASL with one mechanism. */
const scramRequest = Buffer.concat([
  Buffer.from([0x52, 0, 0, 0, 23, 0, 0, 0, 10]),
  Buffer.from("SCRAM-SHA-256\0\0", "latin1"),
]);
/** AuthenticationOk, then ReadyForQuery. */
const noRequest = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** Answers the first message of each session. `received` returns everything that was sent to it. */
async function openImpostor(request: Buffer) {
  const sockets: Socket[] = [];
  let received = "";
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.write(request));
    socket.on("data", (data) => {
      received += data.toString("latin1");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    received: () => received,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
