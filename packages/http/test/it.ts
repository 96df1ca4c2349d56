import type { RawClient } from "@petstore/harness/network";
import { type TestAPI, test } from "vitest";
import { startTestServer, type TestServer } from "./test-server.js";

export const host = "Host: pets.example\r\n";
export const list: string = `GET /pets HTTP/1.1\r\n${host}\r\n`;
export const slow: string = `GET /slow HTTP/1.1\r\n${host}\r\n`;
export const large: string = `GET /large HTTP/1.1\r\n${host}\r\n`;
/** Without the end of its headers, and without a body. */
export const create: string = `POST /pets HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
export const refused: string = `POST /refused HTTP/1.1\r\n${host}`;
export const chunked = "Transfer-Encoding: chunked\r\n\r\n";

interface Fixtures {
  readonly server: TestServer;
  readonly client: RawClient;
}

/** A vitest test with a server and one client of it. vitest fails for an error that would end the process. */
export const it: TestAPI<Fixtures> = test.extend<Fixtures>({
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
