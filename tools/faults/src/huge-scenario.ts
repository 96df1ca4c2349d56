import { gzipSync } from "node:zlib";
import { type Api, bothApis } from "./api.js";
import { unthrottled } from "./environment.js";
import { atLeast, atMost, exactly } from "./measure.js";
import { openRawClient, type RawAnswer } from "./raw-client.js";
import { residentMebibytes } from "./resident-memory.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { roomy } from "./stage.js";
import { hasErrorBody, hasTripleOnce } from "./wire-answers.js";
import { authorization, beginningOf, requestOf } from "./wire-requests.js";

const bodyMebibytes = 8;
const bombMebibytes = 64;
/** Of each request, to each API. */
const toWarmUp = 80;
const toMeasure = 120;
const atOnce = 8;
/** V8's young generation grows to 32 MiB in its own time; eight bodies that are kept, or one bomb unpacked, are 64. */
const grownAtMostMebibytes = 52;
/** About the limit of 200 fields, about 1,000 and 2,000, beyond which Node drops fields silently, and up to 16 KiB. */
const fieldsBefore = [0, 100, 190, 196, 197, 198, 199, 200, 201, 500, 999, 1_000, 1_001, 1_999, 2_000, 2_001, 2_500];

interface Huge {
  readonly what: string;
  readonly status: number;
  readonly bytes: readonly (string | Buffer)[];
}

const megabyte = Buffer.alloc(2 ** 20, " ");
const bomb = gzipSync(Buffer.alloc(bombMebibytes * 2 ** 20));

function hugeRequests(api: Api, key: string): readonly Huge[] {
  const json = `${key}Content-Type: application/json\r\n`;
  const body = Array<Buffer>(bodyMebibytes).fill(megabyte);
  const chunks = body.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]);
  const unpacked = `${json}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`;
  return [
    {
      what: `a body of ${bodyMebibytes} MiB`,
      status: 413,
      bytes: [beginningOf(api, `${json}Content-Length: ${bodyMebibytes * megabyte.length}\r\n`), ...body],
    },
    {
      what: "the same in chunks",
      status: 413,
      bytes: [beginningOf(api, `${json}Transfer-Encoding: chunked\r\n`), ...chunks, "0\r\n\r\n"],
    },
    {
      what: `${bombMebibytes} MiB in ${Math.round(bomb.length / 1_024)} KiB of gzip`,
      status: 415,
      bytes: [beginningOf(api, unpacked), bomb],
    },
    { what: "a header of 17 KB", status: 431, bytes: [requestOf(api.list, `${key}X: ${"y".repeat(17_000)}\r\n`)] },
    { what: "2,500 headers", status: 431, bytes: [requestOf(api.list, `${"a:b\r\n".repeat(2_500)}${key}`)] },
  ];
}

export const hugeScenario: Scenario = {
  group: "http",
  name: "huge-requests",
  cause: `${toWarmUp + toMeasure} times to each API: a body of ${bodyMebibytes} MiB, whole and in chunks, a gzip bomb, a header of 17 KB, 2,500 headers`,
  expected: "413, 415, 431, readable by a client that goes on writing; memory flat; never a dropped Authorization",
  async run(stage) {
    const services = await stage.startCold(bothApis, unthrottled);
    await stage.warmUp();
    const { apiKey } = await stage.store.issueKey(roomy);
    const key = authorization(apiKey);
    const checks: Check[] = [];
    for (const service of services) {
      const { name } = service.api;
      const requests = hugeRequests(service.api, key);
      for (const request of requests) await sendOften(service, request, toWarmUp);
      const beforeMebibytes = await residentMebibytes(service);
      for (const request of requests) {
        const outcomes = await sendOften(service, request, toMeasure);
        const answers = outcomes.flatMap(({ answers }) => answers);
        stage.keep(answers);
        const right = answers.filter((one) => one.status === request.status && hasErrorBody(one) && hasTripleOnce(one));
        checks.push(
          exactly(toMeasure, `${name}: ${request.what}: answers of ${request.status}`, right.length),
          exactly(0, `${name}: ${request.what}: other answers`, answers.length - right.length),
          exactly(0, `${name}: ${request.what}: resets`, outcomes.filter(({ wasReset }) => wasReset).length),
        );
      }
      const grownMebibytes = (await residentMebibytes(service)) - beforeMebibytes;
      checks.push(atMost(grownAtMostMebibytes, `${name}: memory grown by`, grownMebibytes, "MiB"));
      const late = await Promise.all(
        fieldsBefore.map((fields) =>
          sendOnce(service, [requestOf(service.api.list, `${"a:b\r\n".repeat(fields)}${key}`)]),
        ),
      );
      const statuses = late.flatMap(({ answers }) => answers.map(({ status }) => status));
      checks.push(
        exactly(
          fieldsBefore.length,
          `${name}: of as many requests whose Authorization comes last, answered 200 or 431`,
          statuses.filter((status) => status === 200 || status === 431).length,
        ),
        atLeast(1, `${name}: of them 200`, statuses.filter((status) => status === 200).length),
        atLeast(1, `${name}: of them 431`, statuses.filter((status) => status === 431).length),
      );
    }
    return [...checks, exactly(0, "processes that ended", services.filter((service) => service.hasEnded()).length)];
  },
};

interface Outcome {
  readonly answers: readonly RawAnswer[];
  readonly wasReset: boolean;
}

async function sendOften(service: Service, { bytes }: Huge, times: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let sent = 0;
  async function sendOn(): Promise<void> {
    for (; sent < times; outcomes.push(await sendOnce(service, bytes))) sent += 1;
  }
  await Promise.all(Array.from({ length: atOnce }, sendOn));
  return outcomes;
}

/** Writes all of it, whatever has been answered meanwhile. */
async function sendOnce({ port }: Service, bytes: Huge["bytes"]): Promise<Outcome> {
  using client = openRawClient(port);
  for (const piece of bytes) await client.send(piece);
  await client.until(1);
  return { answers: [...client.answers()], wasReset: client.wasReset() };
}
