import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { openPipeline } from "./pipeline.js";

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: pets.example\r\n\r\n`;

it("answers every request of a volley, in their order", async () => {
  using pipeline = openPipeline(await listening(createServer(({ url }, response) => response.end(`this is ${url}`))));
  const answers = await pipeline.ask(Array.from({ length: 40 }, (_, index) => ask(`/${index}`)));
  expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 40 }, (_, index) => `this is /${index}`));
});

it("what a closed connection owes has failed, and the next volley has another connection", async () => {
  const server = createServer(({ url, socket }, response) => {
    if (url === "/cut") socket.destroy();
    else response.end(url);
  });
  using pipeline = openPipeline(await listening(server));
  const cut = await pipeline.ask([ask("/1"), ask("/cut"), ask("/3")]);
  expect(cut.at(-1)).toMatchObject({ status: 0, failure: expect.stringContaining("no answer") });
  expect(cut).toHaveLength(3);
  expect(await pipeline.ask([ask("/4")])).toMatchObject([{ status: 200, text: "/4", failure: undefined }]);
});

it("an answer too many fails what is asked behind it, instead of being its answer", async () => {
  const server = createServer(({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1".repeat(2));
  });
  using pipeline = openPipeline(await listening(server));
  expect(await pipeline.ask([ask("/1")])).toMatchObject([{ status: 200, text: "1" }]);
  expect(await pipeline.ask([ask("/2")])).toMatchObject([{ status: 0, failure: expect.stringContaining("too many") }]);
});

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
