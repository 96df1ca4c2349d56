/** A node of a Redis Cluster, as another node lists it. */
export interface KnownNode {
  readonly id: string;
  readonly port: number;
  readonly isSelf: boolean;
  readonly role: "master" | "replica";
  /** Only replicas have one. */
  readonly masterId: string | undefined;
  readonly hasFailed: boolean;
  /** Single slots, and ranges with a dash. */
  readonly slots: readonly string[];
}

/** Reads the reply of CLUSTER NODES. */
export function parseClusterNodes(reply: string): readonly KnownNode[] {
  return reply.trim().split("\n").map(parseNode);
}

export function ownsSlot(node: KnownNode, slot: number): boolean {
  return node.slots.some((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return first !== undefined && last !== undefined && first <= slot && slot <= last;
  });
}

/** The running nodes and their slots as text, which is equal when two nodes agree. */
export function summarize(view: readonly KnownNode[]): string {
  return view
    .filter((node) => !node.hasFailed)
    .map((node) => [node.port, node.role, node.masterId ?? "-", ...node.slots].join(" "))
    .sort()
    .join("\n");
}

function parseNode(line: string): KnownNode {
  const [id = "", address = "", flagList = "", masterId = "", , , , , ...slots] = line.split(" ");
  const flags = flagList.split(",");
  const isReplica = flags.includes("slave");
  return {
    id,
    port: Number(/:(\d+)@/.exec(address)?.[1]),
    isSelf: flags.includes("myself"),
    role: isReplica ? "replica" : "master",
    masterId: isReplica ? masterId : undefined,
    hasFailed: flags.includes("fail"),
    // Slots in brackets are moving from or to this node.
    slots: slots.filter((slot) => !slot.startsWith("[")),
  };
}
