import type { Answer, CallOptions, TestStore } from "./test-store.js";

export const body = '{"name":"a-mauve-name","categoryId":1}';

/** Sends every kind of request with this key. The word `mauve` and the key are in each place that takes any text. */
export async function everyRequest(store: TestStore, key: string): Promise<Answer[]> {
  const requests: [method: string, path: string, options: CallOptions][] = [
    ["GET", "/v1/pets", { key }],
    ["GET", "/v1/pets?limit=mauve", { key }],
    ["GET", "/v1/pets?cursor=mauve", { key }],
    ["GET", `/v1/pets?api_key=${key}`, {}],
    ["GET", `/v1/pets?api_key=${key}`, { key }],
    ["GET", "/v1/pets/1", { key }],
    ["GET", `/v1/pets/${key}`, { key }],
    ["GET", `/v1/${key}`, { key }],
    ["GET", "/v1/mauve/%zz", { key }],
    ["DELETE", "/v1/pets", { key }],
    ["GET", "/v1/pets", { key, headers: { Accept: "text/html", "X-Request-Id": key } }],
    ["GET", "/v1/pets", { key, headers: { "X-Request-Id": `trace/${key.toUpperCase()}` } }],
    ["GET", "/v1/pets", { headers: { Authorization: [`Bearer ${key}`, "Bearer mauve"] } }],
    ["GET", "/v1/pets", { headers: { Authorization: `Basic ${key}` } }],
    ["GET", "/v1/pets", { key, headers: { Host: "mauve example" } }],
    ["POST", "/v1/pets", { key, body }],
    ["POST", "/v1/pets", { key, body, headers: { "Idempotency-Key": key } }],
    ["POST", "/v1/pets", { key, body: body.replace("1", "2"), headers: { "Idempotency-Key": key } }],
    ["POST", "/v1/pets", { key, body: `{"${key}":"mauve"}` }],
    ["POST", "/v1/pets", { key, body: `mauve ${key}` }],
    ["POST", "/v1/pets", { key, body: body.padEnd(65_537) }],
    ["POST", "/v1/pets", { key, body, headers: { "Content-Type": key } }],
    ["OPTIONS", "/v1/pets", { key }],
  ];
  const answers: Answer[] = [];
  for (const request of requests) answers.push(await store.call(...request));
  return answers;
}

/** The same during each fault of the database. The last one does not end. */
export async function everyRequestInEachFault(store: TestStore, key: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const [breaking, mending] of faults) {
    for (const sql of breaking) await store.execute(sql);
    answers.push(...(await everyRequest(store, key)));
    for (const sql of mending) await store.execute(sql);
  }
  return answers;
}

/** The statements that cause each fault, and the statements that end it. */
const faults: [breaking: string[], mending: string[]][] = [
  [["alter table pets rename name to title"], ["alter table pets rename title to name"]],
  [
    ["alter table pets add constraint no_mauve check (name <> 'a-mauve-name') not valid"],
    ["alter table pets drop constraint no_mauve"],
  ],
  [["begin", "lock table pets in access exclusive mode"], ["rollback"]],
  [["drop table pets cascade"], []],
];
