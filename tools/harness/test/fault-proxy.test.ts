import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { openFaultProxy } from "@petstore/harness/network";
import { expect, it, onTestFinished } from "vitest";

it("drops a reply after the server has received the request", async () => {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      received.push(String(chunk));
      socket.write(chunk);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  await using proxy = await openFaultProxy({ url: `echo://127.0.0.1:${(server.address() as AddressInfo).port}` });
  await proxy.dropReplies();
  const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  socket.write("cat");
  await expect(once(socket, "data")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(received).toEqual(["cat"]);
});
