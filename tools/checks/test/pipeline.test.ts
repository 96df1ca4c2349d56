import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { openPipeline, type Pipeline } from "../faults/environment/pipeline.js";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: pets.example\r\n\r\n`;

it("fails the unanswered requests of a closed connection, and opens another one for the next batch", async () => {
  using pipeline = await openPipelineTo(({ url, socket }, response) => {
    if (url === "/cut") socket.destroy();
    else response.end(url);
  });
  const cut = await pipeline.send([get("/1"), get("/cut"), get("/3")]);
  expect(cut.at(-1)).toMatchObject({ status: 0, failure: expect.stringContaining("no answer") });
  expect(cut).toHaveLength(3);
  expect(await pipeline.send([get("/4")])).toMatchObject([{ status: 200, text: "/4", failure: undefined }]);
});

it("fails the next batch after a surplus answer", async () => {
  using pipeline = await openPipelineTo(({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1".repeat(2));
  });
  expect(await pipeline.send([get("/1")])).toMatchObject([{ status: 200, text: "1" }]);
  expect(await pipeline.send([get("/2")])).toMatchObject([{ status: 0, failure: expect.stringContaining("surplus") }]);
});

async function openPipelineTo(listener: RequestListener): Promise<Pipeline> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return openPipeline(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}
