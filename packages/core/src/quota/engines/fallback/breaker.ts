/** Stops calls to Redis after a failure, until a probe succeeds. */
import { Cluster, type Redis, ReplyError } from "ioredis";
import type { Log } from "../../../log.js";
import { setReplyTimeout } from "../../../reply-timeout.js";
import type { RedisConnection } from "../redis-connection.js";

export interface BreakerOptions {
  readonly connection: Pick<RedisConnection, "redis" | "onLoss" | "connectError" | "reconnect">;
  /** Writes to the Redis node that holds `account`, or to any node if `account` is empty. A read would succeed on a replica. */
  readonly probe: (account: string) => Promise<unknown>;
  /** How long a call or a probe may take. */
  readonly deadlineMs: number;
  /** Called each time that the breaker opens, before any request is decided without Redis. */
  readonly onOpen: () => void;
  readonly log: Log;
}

/**
 * Decides whether Redis is called. An *outage* is the time while the breaker is open.
 *
 * - *Closed*: requests call Redis. The breaker opens after the first call that fails or misses its deadline, when a
 *   connection is lost, and when a request finds that the connection is not ready.
 * - *Open*: no request calls Redis. A probe runs in the background every 250 ms. The first probe that succeeds closes the
 *   breaker.
 *
 * Decision 0004 explains why one failure is enough.
 */
export interface Breaker extends Disposable {
  /** True while the breaker is closed. Opens it first if the connection is not ready. */
  canCall(): boolean;
  /**
   * Calls Redis about an account. Ask `canCall` first. Rejects, and opens the breaker, if the call fails or misses the
   * deadline. Rejects too if the breaker opened while the call was in flight, even if it is closed again.
   */
  run<Reply>(account: string, call: () => Promise<Reply>): Promise<Reply>;
  /** How often the breaker has opened. */
  outages(): number;
}

const probeIntervalMs = 250;
/** The server became a replica, has lost its replicas or is still loading: a new connection may reach another server. */
const mayReachAnother = /^(READONLY|MASTERDOWN|NOREPLICAS|LOADING)/;
/** Redis refuses the user, the password or a command, or a sentinel does. */
const refusesUser = /\b(WRONGPASS|NOAUTH|NOPERM)\b/;

export function createBreaker({ connection, probe, deadlineMs, onOpen, log }: BreakerOptions): Breaker {
  let isOpen = false;
  let isDisposed = false;
  let outages = 0;
  let accountToProbe = "";
  let isCauseLogged = false;
  let nextProbe: NodeJS.Timeout | undefined;

  /** A lost connection reconnects by itself. The loss concerns no account, so any node may answer the probe. */
  function openWithoutConnection(): void {
    if (isOpen || isDisposed) return;
    open("", connection.connectError());
  }

  /** In a cluster, only the node of `account` may have failed, so the probe goes to this node. */
  function openAfterFailedCall(account: string, error: unknown): void {
    if (isOpen || isDisposed) return;
    open(account, error);
    reconnectIfUseful(error);
  }

  function open(account: string, cause: unknown): void {
    isOpen = true;
    outages += 1;
    accountToProbe = account;
    isCauseLogged = cause !== undefined;
    onOpen();
    log.warn({ error: cause }, "Redis is unavailable: quotas are not shared");
    scheduleProbe();
  }

  /**
   * Reconnects if another server may answer or a call got no reply. Without a reply, other calls on the connection would also
   * wait for their deadlines, and a paused Redis would execute them later.
   */
  function reconnectIfUseful(error: unknown): void {
    const canStay = error instanceof ReplyError && error instanceof Error && !mayReachAnother.test(error.message);
    if (!canStay) connection.reconnect();
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
    withDeadline(probe(accountToProbe), deadlineMs).then(close, (error: unknown) => {
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
  connection.onLoss(openWithoutConnection);
  return {
    canCall() {
      // A call that is sent now would fail, and this instance would not know whether Redis had received it.
      if (!isOpen && !isReady(connection.redis)) openWithoutConnection();
      return !isOpen;
    },
    async run(account, call) {
      const outagesBefore = outages;
      const reply = await withDeadline(call(), deadlineMs).catch((error: unknown) => {
        openAfterFailedCall(account, error);
        throw error;
      });
      // In the outage, this instance may have granted units that the reply counts as unused. So the reply is not used.
      const hasOpened = outages !== outagesBefore;
      if (hasOpened) throw new Error("an outage began before the reply");
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
