/** Stops calls to Redis after a failure, until a probe succeeds. */
import type { Log } from "../../../log.js";
import { setReplyTimeout } from "../../../reply-timeout.js";
import { isErrorReply } from "../error-reply.js";
import type { Shard } from "../shards.js";

export interface BreakerOptions {
  readonly shard: Shard;
  /** Writes to the server that counts for the account. A read would succeed on a replica. */
  readonly probe: (account: string) => Promise<unknown>;
  /** How long a call or a probe may take. */
  readonly deadlineMs: number;
  /** Called each time that the breaker opens, before any request is decided without Redis. */
  readonly onOpen: () => void;
  readonly log: Log;
}

/**
 * Decides whether the server of a shard is called. An *outage* is the time while the breaker is open.
 *
 * - *Closed*: requests call the server. The breaker opens after the first call that fails or misses its deadline, when the
 *   connection is lost, and when a request finds that the connection is not ready.
 * - *Open*: no request calls the server. A probe runs in the background every 100 ms. The first probe that succeeds closes the
 *   breaker.
 *
 * Decision 0004 explains why one failure is enough.
 */
export interface Breaker extends Disposable {
  /** True while the breaker is closed. Opens it first if the connection is not ready. */
  canCall(): boolean;
  /**
   * Calls the server about an account. Ask `canCall` first. Rejects, and opens the breaker, if the call fails or misses the
   * deadline.
   */
  run<Reply>(account: string, call: () => Promise<Reply>): Promise<Reply>;
  /** How often the breaker has opened. */
  outages(): number;
}

/**
 * Short, because an instance that shares Redis again before another one may grant units that the other has granted alone and
 * not reported yet.
 */
const probeIntervalMs = 100;
/** The server became a replica, has lost its replicas or is still loading: a new connection may reach another server. */
const mayReachAnother = /^(READONLY|MASTERDOWN|NOREPLICAS|LOADING)/;
/** Redis refuses the user, the password or a command, or a sentinel does. */
const refusesUser = /\b(WRONGPASS|NOAUTH|NOPERM)\b/;

export function createBreaker({ shard, probe, deadlineMs, onOpen, log }: BreakerOptions): Breaker {
  let isOpen = false;
  let isDisposed = false;
  let outages = 0;
  let failedAccount: string | undefined;
  let isCauseLogged = false;
  let nextProbe: NodeJS.Timeout | undefined;

  /** The loss concerns no account, so the probe may be about any account of the shard. */
  function openWithoutConnection(): void {
    if (isOpen || isDisposed) return;
    open(undefined, shard.connectError());
  }

  /** The probe is about the same account, because Redis may refuse only some calls, such as those about a slot that moves. */
  function openAfterFailedCall(account: string, error: unknown): void {
    if (isOpen || isDisposed) return;
    open(account, error);
    reconnectIfUseful(error);
  }

  function open(account: string | undefined, cause: unknown): void {
    isOpen = true;
    outages += 1;
    failedAccount = account;
    isCauseLogged = cause !== undefined;
    onOpen();
    log.warn({ ...names(), error: cause }, "Redis is unavailable: quotas are not shared");
    scheduleProbe();
  }

  /** Tells the shards of a cluster apart. */
  function names(): object {
    return { shard: shard.name(), server: shard.address() };
  }

  /**
   * Reconnects if another server may answer or a call got no reply. Without a reply, other calls on the connection would also
   * wait for their deadlines, and a paused Redis would execute them later.
   */
  function reconnectIfUseful(error: unknown): void {
    const canStay = isErrorReply(error) && !mayReachAnother.test(error.message);
    if (!canStay) shard.reconnect();
  }

  function scheduleProbe(): void {
    if (!isDisposed) nextProbe = setTimeout(sendProbe, probeIntervalMs).unref();
  }

  function sendProbe(): void {
    const account = shard.accountToProbe(failedAccount);
    // Other shards have its last slots now.
    if (account === undefined) {
      close();
      return;
    }
    if (!shard.isReady()) {
      logRefusedUser();
      shard.connect();
      scheduleProbe();
      return;
    }
    withDeadline(probe(account), deadlineMs).then(close, (error: unknown) => {
      reconnectIfUseful(error);
      scheduleProbe();
    });
  }

  /** When a connection is lost, it is not known yet whether Redis accepts the password for another one. */
  function logRefusedUser(): void {
    const error = shard.connectError();
    if (isCauseLogged || error === undefined || !refusesUser.test(error.message)) return;
    isCauseLogged = true;
    log.warn({ ...names(), error }, "Redis refuses the user of REDIS_URL");
  }

  function close(): void {
    isOpen = false;
    if (!isDisposed) log.info(names(), "Redis recovered: quotas are shared again");
  }

  // Each loss opens the breaker, even when no call is in flight: Redis may return without its data.
  shard.onLoss(openWithoutConnection);
  return {
    canCall() {
      // A call that is sent now would fail, and this instance would not know whether Redis had received it.
      if (!isOpen && !shard.isReady()) openWithoutConnection();
      return !isOpen;
    },
    run: (account, call) =>
      withDeadline(call(), deadlineMs).catch((error: unknown) => {
        openAfterFailedCall(account, error);
        throw error;
      }),
    outages: () => outages,
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(nextProbe);
    },
  };
}

function withDeadline<Reply>(call: Promise<Reply>, deadlineMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`no reply within ${deadlineMs} ms`));
    const timer = setReplyTimeout(fail, deadlineMs);
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
