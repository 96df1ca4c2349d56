// `petstore doctor --url`: looks at a deployment through its balancer, as a client does, with one API key. It creates no pet.
import { setTimeout as delay } from "node:timers/promises";
import { isWellFormedApiKey } from "@petstore/core";
import { type CommandContext, Refusal } from "../../command-context.js";
import { type Finding, ok, skipped } from "../finding.js";
import { type CheckedAccount, checkAccount } from "./check-account.js";
import { checkAddress } from "./check-address.js";
import { checkClocks } from "./check-clocks.js";
import { checkCompression } from "./check-compression.js";
import { checkCors } from "./check-cors.js";
import { checkErrors } from "./check-errors.js";
import { checkQuotaHeaders, checkRequestId } from "./check-headers.js";
import { checkMetrics } from "./check-metrics.js";
import { checkEtag, checkHead, checkLinks, type FirstPage, getFirstPage } from "./check-pages.js";
import { checkSharedQuota, hasWindowChanged, sharedQuota } from "./check-quota.js";
import { checkRetryAfter } from "./check-retry-after.js";
import {
  checkCertificate,
  checkHttp2,
  checkPlainHttp,
  checkStrictTransport,
  inspectTransport,
  plainAddressesOf,
  type Transport,
} from "./check-tls.js";
import { checkReachable, type ListedByBoth, listByBoth } from "./lists.js";
import { openStoreClient, type StoreClient, type Target } from "./store-client.js";

export interface OutsideOptions {
  readonly url: string;
  readonly graphqlUrl?: string | undefined;
  readonly timeoutMs: number;
}

/** Throws a refusal if the deployment cannot be looked at. */
export async function examineOutside(options: OutsideOptions, context: CommandContext): Promise<readonly Finding[]> {
  const target = readTarget(options);
  const key = await readKey(context);
  const { timeoutMs } = options;
  const transport = await inspectTransport(target.rest, timeoutMs);
  const graphqlTransport =
    target.graphql.origin === target.rest.origin ? undefined : await inspectTransport(target.graphql, timeoutMs);

  using client = openStoreClient(target, key, timeoutMs, context);
  const account = await checkAccount(client);
  const findings: Finding[] = [];
  for (const [{ host }, seen] of [
    [target.rest, transport],
    [target.graphql, graphqlTransport],
  ] as const) {
    if (seen !== undefined) findings.push(checkCertificate(host, seen, context.now()));
  }
  const lists = await listByBoth(client);
  const reachable = checkReachable(lists);
  findings.push(reachable);
  if (reachable.status === "ok") findings.push(...(await checkBoth(client, account, lists, transport)));
  const units = client.unitsUsed();
  findings.push(ok("units", `the checks have used ${units} ${units === 1 ? "unit" : "units"} of the account`));
  return findings;
}

async function checkBoth(
  client: StoreClient,
  { scope, rateLimit }: CheckedAccount,
  lists: ListedByBoth,
  transport: Transport | undefined,
): Promise<readonly Finding[]> {
  const page = await settledPage(client, lists);
  return [
    ...(transport === undefined ? [ok("tls", "stays on this machine")] : await checkTls(client, transport, lists)),
    await compareCounts(client, lists),
    checkQuotaHeaders(lists),
    await checkRetryAfter(client),
    await checkAddress(client),
    checkRequestId(lists),
    checkClocks(lists),
    checkLinks(client, rateLimit, page),
    await checkEtag(client, page),
    await checkHead(client, page),
    await checkCompression(client, page),
    await checkCors(client, lists),
    ...(await checkErrors(client, scope)),
    await checkMetrics(client),
  ];
}

async function checkTls(client: StoreClient, transport: Transport, lists: ListedByBoth): Promise<readonly Finding[]> {
  return [
    ...(await Promise.all(plainAddressesOf(client.target).map((plain) => checkPlainHttp(plain, client.now)))),
    checkStrictTransport(lists),
    await checkHttp2(transport, client),
  ];
}

/** If a minute begins between the lists, they are repeated once. */
async function compareCounts(client: StoreClient, first: ListedByBoth): Promise<Finding> {
  const lists = [first, await listByBoth(client)];
  if (!hasWindowChanged(lists)) return checkSharedQuota(lists);
  const again = [await listByBoth(client), await listByBoth(client)];
  if (!hasWindowChanged(again)) return checkSharedQuota(again);
  return skipped(sharedQuota, "two rounds of lists took more than a minute, so their counts cannot be compared");
}

const settlesWithinMs = 500;
const pageAttempts = 3;

/**
 * The first page of an instance that has just started may have no ETag, because the instance does not know yet that the page
 * cannot change.
 */
async function settledPage(client: StoreClient, { hasNextPage = false }: ListedByBoth): Promise<FirstPage> {
  for (let attempt = 1; ; attempt += 1) {
    const plain = await getFirstPage(client, { "Accept-Encoding": "identity" });
    const zipped = await getFirstPage(client, { "Accept-Encoding": "gzip" });
    const isSettled = plain.headers.etag !== undefined && zipped.headers.etag !== undefined;
    if (!hasNextPage || isSettled || attempt === pageAttempts) return { plain, zipped, hasNextPage };
    await delay(settlesWithinMs);
  }
}

/** From the environment or from standard input, because the arguments of a process can be seen by every user. */
async function readKey({ environment, readInput }: CommandContext): Promise<string> {
  const key = environment.API_KEY?.trim() || (await readInput()).trim();
  if (key === "") throw new Refusal("There is no API key: set API_KEY, or write the key to standard input.");
  // Repeats no part of it.
  if (!isWellFormedApiKey(key)) throw new Refusal("The text in API_KEY or on standard input is no API key.");
  return key;
}

function readTarget({ url, graphqlUrl }: OutsideOptions): Target {
  const rest = readAddress("--url", url);
  // Guides name the REST API with its path.
  if (!/^\/(v1\/?)?$/.test(rest.pathname)) {
    throw new Refusal("--url is the address of the store without a path, such as https://pets.example.");
  }
  const graphql = graphqlUrl === undefined ? new URL("/graphql", rest) : readAddress("--graphql-url", graphqlUrl);
  if (graphql.pathname === "/") graphql.pathname = "/graphql";
  return { rest: new URL(rest.origin), graphql };
}

function readAddress(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "") return url;
  throw new Refusal(`${option} must be an address that begins with https://, without a user and a query.`);
}
