// Replaces the DNS of Docker: answers questions for IPv4 addresses (RFC 1035) from a list.
import { createSocket } from "node:dgram";
import { once } from "node:events";

export interface Names extends AsyncDisposable {
  readonly port: number;
}

const headerBytes = 12;
const typeAddress = 1;

/** Knows each name's addresses; none has a name without. */
export async function answerNames(addresses: Readonly<Record<string, readonly string[]>>): Promise<Names> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => socket.send(answerTo(query, addresses), port, address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

function answerTo(query: Buffer, addresses: Readonly<Record<string, readonly string[]>>): Buffer {
  const labels: string[] = [];
  let end = headerBytes;
  for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
    labels.push(query.toString("latin1", end + 1, end + 1 + length));
    end += 1 + length;
  }
  const type = query.readUInt16BE(end + 1);
  const question = query.subarray(headerBytes, end + 5);
  const found = type === typeAddress ? (addresses[labels.join(".")] ?? []) : [];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  // A response, recursion desired and available; without addresses, "no such name" unless another type was asked for.
  header.writeUInt16BE(found.length > 0 || type !== typeAddress ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  return Buffer.concat([header, question, ...found.map(addressRecord)]);
}

/** The name is a pointer to the question's; one second to live. */
function addressRecord(address: string): Buffer {
  return Buffer.from([0xc0, headerBytes, 0, typeAddress, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]);
}
