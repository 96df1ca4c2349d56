import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { openRawClient, type RawAnswer } from "@petstore/harness/network";
import { type Api, authorization, requestOf, startOfCreate } from "../environment/apis.js";
import { it } from "../environment/it.js";
import { answerOf, count } from "../environment/results.js";
import { mebibytesOf, type Service, unthrottled } from "../environment/services.js";
import { type Conversation, conversations } from "./malformed-requests.js";
import { hasErrorBody, hasRateLimitOnce, type RawExchange, sendRaw } from "./raw-answers.js";

const resets = 200;
/** A surplus answer would arrive within this time. */
const quietMs = 30;

it("wire: answers every malformed request once, in order, and completely", async ({ environment, figures }) => {
  const services = await environment.startServices(unthrottled);
  await environment.warmUp();
  const apiKey = await environment.issueKey();
  for (const { api, port } of services) {
    const all = conversations(api, apiKey);
    const wrong: string[] = [];
    const answers: RawAnswer[] = [];
    for (const conversation of all) {
      const received = await hold(port, conversation);
      const statuses = received.map(({ status }) => status).join();
      if (statuses !== conversation.statuses.join()) wrong.push(`${conversation.what}: ${statuses || "nothing"}`);
      answers.push(...received.filter(({ status }) => status >= 200));
    }
    environment.keep(answers.map(answerOf));
    const refused = answers.filter(({ status }) => status >= 400);
    const withoutHeaders = count(answers, (answer) => !hasRateLimitOnce(answer));
    const what = [`${api.name}: of ${all.length} connections, answered wrongly`, ...wrong].join("; ");
    figures.exactly(0, what, wrong.length);
    figures.atLeast(all.length / 2, `${api.name}: refusals`, refused.length);
    figures.count(0, `${api.name}: refusals without the error body`, refused, (answer) => !hasErrorBody(answer));
    figures.exactly(0, `${api.name}: answers without each X-RateLimit header once`, withoutHeaders);
    await resetOften(port, requestOf(api.list, authorization(apiKey)));
  }
  const later = await environment.sendBurst({ requests: 100, clients: 8, apiKey });
  figures.count(100, "of 100 requests after the resets, answers of 200", later, ({ status }) => status === 200);
  environment.checkAlive();
});

async function hold(port: number, { bytes, statuses, isHalfClosed }: Conversation): Promise<readonly RawAnswer[]> {
  using client = openRawClient(port);
  await client.send(bytes);
  if (isHalfClosed === true) client.end();
  await client.until(statuses.length);
  await sleep(quietMs);
  return [...client.answers()];
}

/** Resets connections at every moment of a request and its answer. */
async function resetOften(port: number, request: string): Promise<void> {
  for (let reset = 0; reset < resets; reset += 1) {
    using client = openRawClient(port);
    const length = reset % 2 === 0 ? request.length : Math.floor((request.length * reset) / resets);
    await client.send(request.slice(0, length));
    await sleep(reset % 7);
    client.reset();
  }
}

const bodyMebibytes = 8;
const bombMebibytes = 64;
/** How often each request is sent to each API. */
const times = { warmUp: 80, measured: 120 };
const atOnce = 8;
/** V8's young generation may grow to 32 MiB. Eight bodies in memory, or one unpacked bomb, are 64 MiB. */
const grownAtMostMebibytes = 52;
/** Around the limit of 200 fields, around 1,000 and 2,000, where Node drops fields silently, and up to 16 KiB. */
const fieldsBefore = [0, 100, 190, 196, 197, 198, 199, 200, 201, 500, 999, 1_000, 1_001, 1_999, 2_000, 2_001, 2_500];
const mebibyte = Buffer.alloc(2 ** 20, " ");
const bomb = gzipSync(Buffer.alloc(bombMebibytes * 2 ** 20));

interface HugeRequest {
  readonly what: string;
  readonly status: number;
  readonly bytes: readonly (string | Buffer)[];
}

it("huge-requests: refuses them with a readable answer and flat memory", async ({ environment, figures }) => {
  const services = await environment.startServices(unthrottled);
  await environment.warmUp();
  const apiKey = await environment.issueKey();
  const key = authorization(apiKey);
  for (const service of services) {
    const { api, port } = service;
    const requests = hugeRequests(api, key);
    for (const request of requests) await sendOften(service, request, times.warmUp);
    const beforeMebibytes = await mebibytesOf(service, "VmRSS");
    for (const request of requests) {
      const what = `${api.name}: ${request.what}`;
      const exchanges = await sendOften(service, request, times.measured);
      const answers = exchanges.flatMap((one) => one.answers);
      environment.keep(answers.map(answerOf));
      const isRight = (one: RawAnswer) => one.status === request.status && hasErrorBody(one) && hasRateLimitOnce(one);
      const right = count(answers, isRight);
      figures.exactly(times.measured, `${what}: answers of ${request.status}`, right);
      figures.exactly(0, `${what}: other answers`, answers.length - right);
      figures.count(0, `${what}: resets`, exchanges, ({ wasReset }) => wasReset);
    }
    const grownMebibytes = (await mebibytesOf(service, "VmRSS")) - beforeMebibytes;
    figures.atMost(grownAtMostMebibytes, `${api.name}: memory grown by`, grownMebibytes, "MiB");
    const lastKeys = fieldsBefore.map((fields) => requestOf(api.list, `${"a:b\r\n".repeat(fields)}${key}`));
    const exchanges = await Promise.all(lastKeys.map((bytes) => sendRaw(port, [bytes])));
    const answers = exchanges.flatMap((one) => one.answers);
    const [served, refused] = [200, 431].map((wanted) => count(answers, ({ status }) => status === wanted));
    const sum = (served ?? 0) + (refused ?? 0);
    figures.exactly(lastKeys.length, `${api.name}: requests with Authorization last, answers of 200 or 431`, sum);
    figures.atLeast(1, `${api.name}: of them 200`, served ?? 0);
    figures.atLeast(1, `${api.name}: of them 431`, refused ?? 0);
  }
  environment.checkAlive();
});

function hugeRequests(api: Api, key: string): readonly HugeRequest[] {
  const json = `${key}Content-Type: application/json\r\n`;
  const body = Array<Buffer>(bodyMebibytes).fill(mebibyte);
  const chunks = body.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]);
  const wholeHead = startOfCreate(api, `${json}Content-Length: ${bodyMebibytes * mebibyte.length}\r\n`);
  const chunkedHead = startOfCreate(api, `${json}Transfer-Encoding: chunked\r\n`);
  const bombHead = startOfCreate(api, `${json}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`);
  return [
    { what: `a body of ${bodyMebibytes} MiB`, status: 413, bytes: [wholeHead, ...body] },
    { what: "the same body in chunks", status: 413, bytes: [chunkedHead, ...chunks, "0\r\n\r\n"] },
    { what: `${bombMebibytes} MiB in a small gzip`, status: 415, bytes: [bombHead, bomb] },
    { what: "a header of 17 KB", status: 431, bytes: [requestOf(api.list, `${key}X: ${"y".repeat(17_000)}\r\n`)] },
    { what: "2,500 headers", status: 431, bytes: [requestOf(api.list, `${"a:b\r\n".repeat(2_500)}${key}`)] },
  ];
}

async function sendOften({ port }: Service, { bytes }: HugeRequest, requests: number): Promise<RawExchange[]> {
  const exchanges: RawExchange[] = [];
  let sent = 0;
  async function runClient(): Promise<void> {
    while (sent < requests) {
      sent += 1;
      exchanges.push(await sendRaw(port, bytes));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runClient));
  return exchanges;
}
