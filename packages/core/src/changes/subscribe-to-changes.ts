import { sql } from "kysely";
import type { Authenticator } from "../access/authenticator.js";
import { sendQuery } from "../database/connection.js";
import { keepAlive } from "../database/connection-config.js";
import type { Database } from "../database/database.js";
import { openSession, type Session } from "../database/session.js";
import { type Statement, statement } from "../database/statement.js";
import type { Log } from "../log.js";
import type { Quotas } from "../quota/open-quota.js";
import {
  changeChannel,
  maxPenalties,
  type OperatorRequest,
  type OperatorResponse,
  quotaModes,
  readChangeEvent,
  responseChannel,
  subscriberName,
} from "./change-events.js";

interface SubscribeDeps {
  /** Must not lead through a PgBouncer in transaction mode: `listen` needs a session of its own. */
  readonly url: string;
  readonly database: Database;
  readonly authenticator: Pick<Authenticator, "invalidateAccount" | "invalidateAll">;
  readonly quotas: Pick<Quotas, "accounts" | "mode">;
  readonly dropKeptPages: () => void;
  readonly instance: string;
  readonly log: Log;
}

const timeoutMs = 1_000;
const firstRetryDelayMs = 100;
const longestRetryDelayMs = 1_000;

/** Stops the use of cached keys and pets that have changed, and responds to the requests of operators. */
export function subscribeToChanges(deps: SubscribeDeps): Session {
  const { url, database, authenticator, quotas, dropKeptPages, instance, log } = deps;
  let isReported = false;

  function onMessage(payload: string): void {
    const event = readChangeEvent(payload);
    if (event?.kind === "account-changed") authenticator.invalidateAccount(BigInt(event.account));
    if (event?.kind === "pets-changed") dropKeptPages();
    if (event?.kind === "question") void respond(event.question, event.ask);
  }

  async function respond(question: string, request: OperatorRequest): Promise<void> {
    const send = async (known: Partial<OperatorResponse>) => {
      const response: OperatorResponse = { question, instance, mode: quotas.mode(), ...known };
      await database.run(notify, { payload: JSON.stringify(response) });
    };
    try {
      if (request.about === "presence") await send({});
      if (request.about === "usage") await send(await usageOf(request));
      if (request.about === "bans" && request.of.includes(instance)) {
        for (const part of await partsOfBans()) await send(part);
      }
    } catch (error) {
      // The operator learns that an instance did not respond.
      log.warn({ error }, "could not respond to an operator's request");
    }
  }

  async function usageOf(request: Extract<OperatorRequest, { about: "usage" }>): Promise<Partial<OperatorResponse>> {
    const { keys = [] } = request;
    const [usage, penalties] = await Promise.all([
      quotas.accounts.usage(request),
      orUndefined(quotas.accounts.penalties({ ...request, keys })),
    ]);
    return { mode: quotas.mode(request.account), usage, penalties };
  }

  /** In an outage of one shard of a Redis Cluster, the others still have their bans. The last part is empty. */
  async function partsOfBans(): Promise<Partial<OperatorResponse>[]> {
    const bans = await orUndefined(quotas.accounts.bans());
    if (bans === undefined) return [{ failed: true }];
    const parts = quotaModes.flatMap((mode) => {
      const ofMode = bans.filter(({ account }) => quotas.mode(account) === mode);
      return Array.from({ length: Math.ceil(ofMode.length / maxPenalties) }, (_, part) => ({
        mode,
        bans: ofMode.slice(part * maxPenalties, (part + 1) * maxPenalties),
        more: true,
      }));
    });
    return [...parts, { bans: [] }];
  }

  /** The operator learns that they are unknown. */
  function orUndefined<Read>(read: Promise<Read>): Promise<Read | undefined> {
    return read.catch((error: unknown) => {
      log.warn({ error }, "could not read the bans for an operator");
      return undefined;
    });
  }

  return openSession({
    config: { connectionString: url, connectionTimeoutMillis: timeoutMs, ...keepAlive },
    async begin(client) {
      client.on("notification", ({ payload = "" }) => onMessage(payload));
      await sendQuery(client, { text: listen, timeoutMs });
      // Events before this moment may be lost.
      authenticator.invalidateAll();
      dropKeptPages();
    },
    // A lost connection may be a failover. A key record is confirmed within 5 s; a page of the old primary must not be served.
    onLoss: dropKeptPages,
    check: (client) => sendQuery(client, { text: "select", timeoutMs }).then(() => undefined),
    onResult(error) {
      if (error !== undefined && !isReported) {
        log.warn({ error }, "not listening for changes: they are seen within 5 s");
      }
      if (error === undefined && isReported) log.info({}, "listening for changes again");
      isReported = error !== undefined;
    },
    checkIntervalMs: 2_000,
    retryDelayMs: (failures) =>
      Math.min(firstRetryDelayMs * 2 ** failures, longestRetryDelayMs) * (0.5 + Math.random() / 2),
  });
}

/** The name is not in the configuration, because an `application_name` in the URL would override it there. */
export const listen: string = `set application_name = '${subscriberName}'; listen ${changeChannel}`;

export const notify: Statement<{ payload: string }, unknown> = statement(
  "write",
  "notify",
  (_db, parameter) => sql`select pg_notify(${sql.lit(responseChannel)}, ${parameter("payload")})`,
);
