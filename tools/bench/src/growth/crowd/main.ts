import { connect, type Socket } from "node:net";
import type { WorkRequest } from "../../words.js";
import type { CrowdQuestion, CrowdState } from "../crowd.js";

/** So many are being opened at once: a service's backlog of connections to accept has 511 places. */
const openingAtOnce = 100;

const sockets = new Set<Socket>();
let failures = 0;
let firstFailure: string | undefined;
let isClosing = false;

process.on("message", async (question: CrowdQuestion) => {
  switch (question.kind) {
    case "open":
      await openAll(question.origin, question.count, textOf(question.request));
      break;
    case "count":
      break;
    case "close":
      isClosing = true;
      await Promise.all([...sockets].map(close));
      break;
  }
  process.send?.(state());
});
process.once("disconnect", () => process.exit());

async function openAll(origin: string, count: number, text: string): Promise<void> {
  const { hostname, port } = new URL(origin);
  let begun = 0;
  const openOn = async () => {
    while (begun < count) {
      begun++;
      await openOne(hostname, Number(port), text);
    }
  };
  await Promise.all(Array.from({ length: openingAtOnce }, openOn));
}

/** Resolves when it has its answer, or has broken. */
function openOne(host: string, port: number, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => socket.write(text));
    sockets.add(socket);
    socket.once("data", (answer) => {
      if (!answer.toString("latin1").startsWith("HTTP/1.1 200 ")) fail(answer.toString("latin1").slice(0, 60));
      // What follows is read, and means nothing.
      socket.resume();
      resolve();
    });
    socket.once("error", (error) => fail(`${error}`));
    socket.once("close", () => {
      sockets.delete(socket);
      if (!isClosing) fail("closed by the service");
      resolve();
    });
  });
}

function fail(reason: string): void {
  failures++;
  firstFailure ??= reason;
}

function close(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
    socket.end();
  });
}

function textOf({ method, path, headers, body = "" }: WorkRequest): string {
  const lines = Object.entries({ host: "127.0.0.1", ...headers, "content-length": `${Buffer.byteLength(body)}` });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

function state(): CrowdState {
  return { open: sockets.size, failures, ...(firstFailure !== undefined && { firstFailure }) };
}
