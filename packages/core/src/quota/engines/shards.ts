/**
 * Describes the servers behind one connection, as the breakers see them.
 *
 * A *shard* is a server that counts for accounts: the only one or, in a Redis Cluster, the master of some slots. A *slot* is one
 * of the parts into which a cluster divides all keys. All keys of an account are in one slot, and a slot belongs to one shard at
 * a time. Without a cluster, there is one shard with one slot.
 */
export interface Shards {
  readonly slotCount: number;
  slotOf(account: string): number;
  shardOf(slot: number): Shard;
  /** Those that have slots now, in the order of their slots. */
  all(): readonly Shard[];
  /** Calls the listener with the slots that have moved to other shards. `shardOf` returns their new shards then. */
  onMove(listener: (slots: readonly number[]) => void): void;
}

export interface Shard {
  /**
   * The lowest slot of a shard of a cluster. A failover keeps it, and all instances use the same name. `undefined` for a single
   * server, and while the slots of the cluster are not known.
   */
  name(): string | undefined;
  /** The address of its server in a cluster, for the log. */
  address(): string | undefined;
  /** True if a call that is sent now is written to a connection. */
  isReady(): boolean;
  /** Calls the listener each time that the connection is lost, or that another server becomes the master. */
  onLoss(listener: () => void): void;
  /** Why the last attempt to connect failed, such as a refused password. `undefined` after a successful attempt. */
  connectError(): Error | undefined;
  /** Tries to connect, unless ioredis does so by itself. Call it regularly until the shard is ready. */
  connect(): void;
  /** Drops the connection, so that a new one replaces it. Calls that wait for a reply fail. */
  reconnect(): void;
  /** Returns `account` if the shard counts for it, else another account of the shard. `undefined` without a slot. */
  accountToProbe(account: string | undefined): string | undefined;
}
