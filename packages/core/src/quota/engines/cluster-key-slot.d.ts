declare module "cluster-key-slot" {
  /** Returns the slot of a key in a Redis Cluster. */
  function calculateSlot(key: string): number;
  export = calculateSlot;
}
