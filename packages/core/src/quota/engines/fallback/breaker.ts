import { Cluster, type Redis, ReplyError } from "ioredis";
import { setReplyTimeout } from "../../../database-calls.js";
import type { Log } from "../../../log.js";
import type { RedisConnection } from "../redis-connection.js";

export interface BreakerOptions {
  readonly connection: Pick<RedisConnection, "redis" | "onLoss" | "connectError" | "reconnect">;
  /** Writes to the Redis node that holds `account`, or to any node if `account` is empty. A read would succeed on a replica. */
  readonly probe: (account: string) => Promise<unknown>;
  readonly deadlineMs: number;
  readonly log: Log;
}

/** Opens after the first failed call to Redis or a lost connection. The first background probe that succeeds closes it. */
export interface Breaker extends Disposable {
  /** True while the breaker is closed. Opens it first if the connection is not ready. */
  canCall(): boolean;
  /**
   * Calls Redis about an account. Ask `canCall` first. Rejects, and opens the breaker, if the call fails or misses the
   * deadline. Also rejects if the breaker opened while the call was in flight.
   */
  run<Reply>(account: string, call: () => Promise<Reply>): Promise<Reply>;
  outages(): number;
}

const probeIntervalMs = 250;
/** The server became a replica, has lost its replicas or is still loading: a new connection may reach another server. */
const mayReachAnother = /^(READONLY|MASTERDOWN|NOREPLICAS|LOADING)/;
/** Redis refuses the user, the password or a command, or a sentinel does. */
const refusesUser = /\b(WRONGPASS|NOAUTH|NOPERM)\b/;

export function createBreaker({ connection, probe, deadlineMs, log }: BreakerOptions): Breaker {
  let isOpen = false;
  let isDisposed = false;
  let outages = 0;
  let failedAccount = "";
  let isCauseLogged = false;
  let nextProbe: NodeJS.Timeout | undefined;

  /** Without arguments: the connection was lost or is not ready. */
  function open(account = "", error?: unknown): void {
    if (isOpen || isDisposed) return;
    isOpen = true;
    outages += 1;
    failedAccount = account;
    const cause = error ?? connection.connectError();
    isCauseLogged = cause !== undefined;
    log.warn({ error: cause }, "Redis is unavailable: quotas are not shared");
    reconnectIfUseful(error);
    scheduleProbe();
  }

  /**
   * Reconnects if another server may answer or a call got no reply. Without a reply, other calls on the connection would also
   * wait for their deadlines, and a paused Redis would execute them later. A lost connection reconnects by itself.
   */
  function reconnectIfUseful(error: unknown): void {
    const canStay = error instanceof ReplyError && error instanceof Error && !mayReachAnother.test(error.message);
    if (error !== undefined && !canStay) connection.reconnect();
  }

  function scheduleProbe(): void {
    if (!isDisposed) nextProbe = setTimeout(sendProbe, probeIntervalMs).unref();
  }

  function sendProbe(): void {
    if (!isReady(connection.redis)) {
      logRefusedUser();
      scheduleProbe();
      return;
    }
    withDeadline(probe(failedAccount), deadlineMs).then(close, (error: unknown) => {
      reconnectIfUseful(error);
      scheduleProbe();
    });
  }

  /** When a connection is lost, it is not known yet whether Redis accepts the password for another one. */
  function logRefusedUser(): void {
    const error = connection.connectError();
    if (isCauseLogged || error === undefined || !refusesUser.test(error.message)) return;
    isCauseLogged = true;
    log.warn({ error }, "Redis refuses the user of REDIS_URL");
  }

  function close(): void {
    isOpen = false;
    if (!isDisposed) log.info({}, "Redis recovered: quotas are shared again");
  }

  // Each loss opens the breaker, even when no call is in flight: Redis may return without its data.
  connection.onLoss(() => open());
  return {
    canCall() {
      // A call that is sent now would fail, and this instance would not know whether Redis had received it.
      if (!isOpen && !isReady(connection.redis)) open();
      return !isOpen;
    },
    async run(account, call) {
      const outagesBefore = outages;
      const reply = await withDeadline(call(), deadlineMs).catch((error: unknown) => {
        open(account, error);
        throw error;
      });
      // In the outage, this instance may have granted units that the reply counts as unused. So the reply is not used.
      if (outages !== outagesBefore) throw new Error("an outage began before the reply");
      return reply;
    },
    outages: () => outages,
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(nextProbe);
    },
  };
}

function isReady(redis: Redis | Cluster): boolean {
  if (redis.status !== "ready") return false;
  // A node in status `wait` keeps its first call until it is connected.
  if (redis instanceof Cluster)
    return redis.nodes("master").every(({ status }) => status === "ready" || status === "wait");
  // ioredis reports a broken connection as ready until its `close` event, but refuses commands.
  return redis.stream.writable;
}

function withDeadline<Reply>(call: Promise<Reply>, deadlineMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`no reply within ${deadlineMs} ms`));
    const timer = setReplyTimeout(fail, deadlineMs);
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
