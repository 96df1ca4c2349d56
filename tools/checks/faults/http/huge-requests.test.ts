import { gzipSync } from "node:zlib";
import { bytesOf, type HttpAnswer, openRawClient } from "@petstore/harness/network";
import { type Api, authorization, startOfCreate } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { resultOf } from "../environment/results.js";
import { mebibytesOf, unthrottled } from "../environment/services.js";

interface RawRequest {
  readonly what: string;
  readonly bytes: readonly (string | Buffer)[];
  /** The status of the only answer. The tests of packages/http and the contract check the rest of the answer. */
  readonly status: number;
}

const bodyMebibytes = 8;
const bombMebibytes = 64;
/** How often each request is sent to each API. */
const times = { warmUp: 80, measured: 120 };
const atOnce = 8;
/** V8's young generation may grow to 32 MiB. Eight bodies in memory, or one unpacked bomb, are 64 MiB. */
const grownAtMostMebibytes = 52;
const mebibyte = Buffer.alloc(2 ** 20, " ");
const bomb = gzipSync(Buffer.alloc(bombMebibytes * 2 ** 20));

it("huge-requests: refuses them with a readable answer and flat memory", async ({ environment, figures }) => {
  const services = await environment.startServices(unthrottled);
  const key = authorization(await environment.issueKey());
  for (const service of services) {
    const { api, port } = service;
    const requests = hugeRequests(api, key);
    for (const request of requests) await sendRepeatedly(port, request, times.warmUp);
    const beforeMebibytes = await mebibytesOf(service, "VmRSS");
    for (const request of requests) {
      const what = `${api.name}: ${request.what}`;
      const hasStatus = (answer: HttpAnswer) => answer.status === request.status;
      const exchanges = await sendRepeatedly(port, request, times.measured);
      const answers = exchanges.flatMap((one) => one.answers);
      environment.keep(answers.map(resultOf));
      figures.count(times.measured, `${what}: answers of ${request.status}`, answers, hasStatus);
      figures.exactly(times.measured, `${what}: answers`, answers.length);
      figures.count(0, `${what}: resets`, exchanges, ({ wasReset }) => wasReset);
    }
    const grownMebibytes = (await mebibytesOf(service, "VmRSS")) - beforeMebibytes;
    figures.atMost(grownAtMostMebibytes, `${api.name}: memory grown by`, grownMebibytes, "MiB");
  }
});

function hugeRequests(api: Api, key: string): readonly RawRequest[] {
  const json = `${key}Content-Type: application/json\r\n`;
  const body = Array<Buffer>(bodyMebibytes).fill(mebibyte);
  const chunks = body.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]);
  const wholeHead = startOfCreate(api, `${json}Content-Length: ${bodyMebibytes * mebibyte.length}\r\n`);
  const chunkedHead = startOfCreate(api, `${json}Transfer-Encoding: chunked\r\n`);
  const bombHead = startOfCreate(api, `${json}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`);
  const listAfter = (lines: string) => [bytesOf(api.list, `${lines}${key}`)];
  return [
    { what: `a body of ${bodyMebibytes} MiB`, bytes: [wholeHead, ...body], status: 413 },
    { what: "the same body in chunks", bytes: [chunkedHead, ...chunks, "0\r\n\r\n"], status: 413 },
    { what: `${bombMebibytes} MiB in a small gzip`, bytes: [bombHead, bomb], status: 415 },
    { what: "a header of 17 KB", bytes: listAfter(`X: ${"y".repeat(17_000)}\r\n`), status: 431 },
    { what: "2,500 headers", bytes: listAfter("a:b\r\n".repeat(2_500)), status: 431 },
  ];
}

async function sendRepeatedly(port: number, request: RawRequest, requests: number) {
  const exchanges: Awaited<ReturnType<typeof exchange>>[] = [];
  while (exchanges.length < requests) {
    exchanges.push(...(await Promise.all(Array.from({ length: atOnce }, () => exchange(port, request)))));
  }
  return exchanges;
}

/** Sends all bytes, regardless of answers, and waits for an answer. */
async function exchange(port: number, { bytes }: RawRequest) {
  using client = openRawClient(port);
  for (const piece of bytes) await client.send(piece);
  await client.until(1);
  return { answers: [...client.answers()], wasReset: client.wasReset() };
}
