import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { mintApiKey } from "@petstore/core";
import type { Call } from "./api.js";
import type { Service } from "./service.js";

export interface UnknownKeyFlood {
  readonly connections: number;
  readonly requestsPerConnection: number;
  /** A connection on which nothing arrives for so long is given up. */
  readonly idleTimeoutMs: number;
}

/**
 * Connections at once that each pipeline requests, each request with another key that looks right and belongs to nobody.
 * Resolves to the number of answers.
 */
export async function floodWithUnknownKeys({ port, api }: Service, flood: UnknownKeyFlood): Promise<number> {
  // Made before the flood begins: making them takes longer than sending them.
  const pipelined = Array.from({ length: flood.connections }, () =>
    Array.from({ length: flood.requestsPerConnection }, (_, index) =>
      requestWithUnknownKey(api.list, index === flood.requestsPerConnection - 1),
    ).join(""),
  );
  const received = await Promise.all(pipelined.map((requests) => exchange(port, requests, flood.idleTimeoutMs)));
  return received.reduce((answers, text) => answers + text.split("HTTP/1.1 ").length - 1, 0);
}

function requestWithUnknownKey({ method, path, headers = {}, body = "" }: Call, isLast: boolean): string {
  const fields = {
    ...headers,
    host: "pets.example",
    authorization: `Bearer ${mintApiKey("test", randomBytes)}`,
    ...(isLast ? { connection: "close" } : {}),
    ...(body === "" ? {} : { "content-length": `${Buffer.byteLength(body)}` }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** Resolves, when the connection is closed, to everything that it has received. */
async function exchange(port: number, bytes: string, idleTimeoutMs: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
  });
  // A reset is one of the ends there are: the server does not wait forever for a client to read. 'close' follows it.
  socket.on("error", () => {});
  socket.setTimeout(idleTimeoutMs, () => socket.destroy());
  socket.write(bytes);
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}
