// Causes every response that the OpenAPI document describes, and compares it with the document.
import { readFile } from "node:fs/promises";
import { shared } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";
import { createResponseCheck, type Documented, type OpenApi } from "@petstore/harness/responses";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { openRunningStore } from "../conformance/running-store.js";
import { causes, type Fixture, validRequests } from "./causes.js";

const file = new URL("../../../services/rest/openapi.yaml", import.meta.url);
const { documented, violations } = createResponseCheck(parse(await readFile(file, "utf8")) as OpenApi);
const afterRemovalMs = Date.UTC(2031, 0, 1) - Date.now();
const environment = {
  BAN_STRIKES: "1",
  BAN_STRIKES_PER_UNIT: "0",
  BAN_GRACE_MS: "0",
  DATABASE_READ_TIMEOUT_MS: "3000",
  DATABASE_WRITE_TIMEOUT_MS: "3000",
};

const { database, originOf } = await shared(openRunningStore({ services: ["rest"], environment }));
const later = await shared(
  startService({
    environment: { DATABASE_URL: database.url, LOG_LEVEL: "silent" },
    clockOffsetMs: afterRemovalMs,
  }),
);
await database.execute(`insert into pets (name, category_id, status) values ('Rex', 1, 'available')`);
const fixture: Fixture = {
  client: openHttpClient(originOf("rest")),
  laterClient: openHttpClient(later.origin),
  database,
  key: (await database.issueKey()).key,
};

/** The service waits ten seconds for the rest of a request, so these tests run at the same time. */
const timeouts = documented.filter(({ code }) => code === "REQUEST_TIMEOUT");
/** One after another, because some make the database unavailable. */
const others = documented.filter((response) => !timeouts.includes(response));

it.concurrent.for(timeouts.map(titled))("%s", ([_title, response]) => expectDocumented(response));
it.for(others.map(titled))("%s", ([_title, response]) => expectDocumented(response));

function titled(response: Documented): [string, Documented] {
  const { operationId, status, code = "" } = response;
  return [`${operationId} can answer as documented: ${status} ${code}`, response];
}

async function expectDocumented({ operationId, status, code }: Documented): Promise<void> {
  const [cause, request] = [causes[code ?? "success"], validRequests[operationId]];
  if (cause === undefined || request === undefined) throw new Error("No request of this test causes it");
  const answer = await cause(fixture, request);
  expect(answer).toMatchObject({ status, code });
  expect(violations(operationId, answer)).toEqual([]);
}
