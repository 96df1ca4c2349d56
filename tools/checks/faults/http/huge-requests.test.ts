import { gzipSync } from "node:zlib";
import { openRawClient, type RawAnswer } from "@petstore/harness/network";
import { type Api, authorization, requestOf, startOfCreate } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { count, resultOf } from "../environment/results.js";
import { mebibytesOf, unthrottled } from "../environment/services.js";

/** Bytes on a connection, and the statuses of the answers in order. */
interface RawRequest {
  readonly what: string;
  readonly bytes: readonly (string | Buffer)[];
  readonly statuses: readonly number[];
}

interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** The server ended the connection with RST. */
  readonly wasReset: boolean;
}

const rateLimitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

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
  await environment.warmUp();
  const key = authorization(await environment.issueKey());
  for (const service of services) {
    const { api, port } = service;
    const requests = hugeRequests(api, key);
    for (const request of requests) await sendRepeatedly(port, request, times.warmUp);
    const beforeMebibytes = await mebibytesOf(service, "VmRSS");
    for (const request of requests) {
      const what = `${api.name}: ${request.what}`;
      const exchanges = await sendRepeatedly(port, request, times.measured);
      const answers = exchanges.flatMap((one) => one.answers);
      environment.keep(answers.map(resultOf));
      const right = count(answers, (one) => request.statuses.includes(one.status) && isComplete(one));
      figures.exactly(times.measured, `${what}: answers of ${request.statuses}`, right);
      figures.exactly(0, `${what}: other answers`, answers.length - right);
      figures.count(0, `${what}: resets`, exchanges, ({ wasReset }) => wasReset);
    }
    const grownMebibytes = (await mebibytesOf(service, "VmRSS")) - beforeMebibytes;
    figures.atMost(grownAtMostMebibytes, `${api.name}: memory grown by`, grownMebibytes, "MiB");
  }
  environment.checkAlive();
});

function hugeRequests(api: Api, key: string): readonly RawRequest[] {
  const json = `${key}Content-Type: application/json\r\n`;
  const body = Array<Buffer>(bodyMebibytes).fill(mebibyte);
  const chunks = body.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]);
  const wholeHead = startOfCreate(api, `${json}Content-Length: ${bodyMebibytes * mebibyte.length}\r\n`);
  const chunkedHead = startOfCreate(api, `${json}Transfer-Encoding: chunked\r\n`);
  const bombHead = startOfCreate(api, `${json}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`);
  const listAfter = (lines: string) => [requestOf(api.list, `${lines}${key}`)];
  return [
    { what: `a body of ${bodyMebibytes} MiB`, bytes: [wholeHead, ...body], statuses: [413] },
    { what: "the same body in chunks", bytes: [chunkedHead, ...chunks, "0\r\n\r\n"], statuses: [413] },
    { what: `${bombMebibytes} MiB in a small gzip`, bytes: [bombHead, bomb], statuses: [415] },
    { what: "a header of 17 KB", bytes: listAfter(`X: ${"y".repeat(17_000)}\r\n`), statuses: [431] },
    { what: "2,500 headers", bytes: listAfter("a:b\r\n".repeat(2_500)), statuses: [431] },
  ];
}

async function sendRepeatedly(port: number, request: RawRequest, requests: number): Promise<RawExchange[]> {
  const exchanges: RawExchange[] = [];
  while (exchanges.length < requests) {
    exchanges.push(...(await Promise.all(Array.from({ length: atOnce }, () => exchange(port, request)))));
  }
  return exchanges;
}

/** Sends all bytes, regardless of answers, and waits for the answers. */
async function exchange(port: number, { bytes, statuses }: RawRequest): Promise<RawExchange> {
  using client = openRawClient(port);
  for (const piece of bytes) await client.send(piece);
  await client.until(statuses.length);
  return { answers: [...client.answers()], wasReset: client.wasReset() };
}

/** True with each X-RateLimit header once and, for a refusal, with the error body of REST or GraphQL. */
function isComplete({ status, fields, json }: RawAnswer): boolean {
  const hasRateLimit = rateLimitHeaders.every((header) => count(fields, ([name]) => name === header) === 1);
  if (status < 400) return hasRateLimit;
  const body = json as ErrorBody & { readonly errors?: readonly (ErrorBody & { readonly extensions: ErrorBody })[] };
  const [first] = body.errors ?? [];
  const error = first === undefined ? body : { ...first.extensions, message: first.message };
  return hasRateLimit && error.status === status && /^[A-Z_]+$/.test(`${error.code}`) && Boolean(error.message);
}

interface ErrorBody {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}
