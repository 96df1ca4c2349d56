import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { openPipeline } from "../faults/environment/pipeline.js";
import { answerOf } from "../faults/environment/results.js";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: pets.example\r\n\r\n`;

it("answers every request of a batch in order", async () => {
  using pipeline = openPipeline(await listen(createServer(({ url }, response) => response.end(`this is ${url}`))));
  const answers = await pipeline.send(Array.from({ length: 40 }, (_, index) => get(`/${index}`)));
  expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 40 }, (_, index) => `this is /${index}`));
});

it("fails the unanswered requests of a closed connection, and opens another one for the next batch", async () => {
  const server = createServer(({ url, socket }, response) => {
    if (url === "/cut") socket.destroy();
    else response.end(url);
  });
  using pipeline = openPipeline(await listen(server));
  const cut = await pipeline.send([get("/1"), get("/cut"), get("/3")]);
  expect(cut.at(-1)).toMatchObject({ status: 0, failure: expect.stringContaining("no answer") });
  expect(cut).toHaveLength(3);
  expect(await pipeline.send([get("/4")])).toMatchObject([{ status: 200, text: "/4", failure: undefined }]);
});

it("fails the next batch after a surplus answer", async () => {
  const server = createServer(({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1".repeat(2));
  });
  using pipeline = openPipeline(await listen(server));
  expect(await pipeline.send([get("/1")])).toMatchObject([{ status: 200, text: "1" }]);
  expect(await pipeline.send([get("/2")])).toMatchObject([{ status: 0, failure: expect.stringContaining("surplus") }]);
});

const answer = { sentAtMs: 0, status: 200, headers: {}, text: "[]" };

it.each([
  ["nothing in a good answer", answer, false],
  ["a stack in the body", { ...answer, text: "at handle (/srv/main.js:1:1)" }, true],
  ["a key in a header", { ...answer, headers: { "www-authenticate": "Bearer pets_live_x" } }, true],
  ["a file in a header", { ...answer, headers: { link: "</v2>, <file:///srv>" } }, true],
])("finds %s", (_what, received, leaks) => {
  expect(answerOf(received)).toMatchObject({ leaks });
});

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
