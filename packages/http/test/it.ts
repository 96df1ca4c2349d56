import type { RawClient } from "@petstore/harness/network";
import { test } from "vitest";
import { startTestServer, type TestServer } from "./test-server.js";

export const host = "Host: pets.example\r\n";
export const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;
export const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
export const large = `GET /large HTTP/1.1\r\n${host}\r\n`;
/** Without the end of its headers, and without a body. */
export const create = `POST /pets HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
export const refused = `POST /refused HTTP/1.1\r\n${host}`;
export const chunked = "Transfer-Encoding: chunked\r\n\r\n";

/** A vitest test with a server and one client of it. vitest fails for an error that would end the process. */
export const it = test.extend<{ server: TestServer; client: RawClient }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from the pattern.
  server: async ({}, use) => {
    await using server = await startTestServer();
    await use(server);
  },
  client: async ({ server }, use) => {
    using client = server.connect();
    await use(client);
  },
});

export function statuses(client: RawClient): number[] {
  return client.answers().map(({ status }) => status);
}

export function connectionHeaders(client: RawClient): (string | undefined)[] {
  return client.answers().map(({ headers }) => headers.connection);
}

/** The Connection headers of this number of answers, if the connection stays open. */
export function keptAlive(count: number): string[] {
  return Array(count).fill("keep-alive");
}

/** A reset would lose the answers that the client has not read yet, and reject this. */
export async function sendAllThenRead({ socket, closed }: RawClient, bytes: string | Buffer): Promise<void> {
  socket.pause();
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.end(bytes, resolve);
  });
  socket.resume();
  await closed;
}
