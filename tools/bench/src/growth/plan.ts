/** A plan as auto_explain logs it, and whether it is the one that a list by status must have. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface LoggedPlan {
  readonly "Query Text": string;
  readonly Plan: PlanNode;
}

/** Every plan in a part of the server's log. */
export function plansIn(log: string): LoggedPlan[] {
  return [...log.matchAll(/ plan:\n((?:\t.*\n)+)/g)].map(([, json = ""]) => JSON.parse(json));
}

/** Index and heap: what was touched for the rows of a page may be a page of the heap each, and a way down the index. */
export function buffersOf({ Plan: plan }: LoggedPlan): number {
  return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
}

/** Of a pet each, and of the index: from its root down to a leaf, and the next leaf. */
export function mostBuffers(pets: number): number {
  return pets + 6;
}

/** One line: the nodes from the outside in, the index, its condition, and what is filtered behind it. */
export function describePlan({ Plan: plan }: LoggedPlan): string {
  return nodesOf(plan)
    .map((node) => {
      const using = node["Index Name"] === undefined ? "" : ` using ${node["Index Name"]} on ${node["Index Cond"]}`;
      return `${node["Node Type"]}${using}${node.Filter === undefined ? "" : `, filter ${node.Filter}`}`;
    })
    .join(" <- ");
}

/** What is wrong with it; undefined when it walks the index on (status, id) and nothing else. */
export function faultOf(logged: LoggedPlan, pets: number): string | undefined {
  const nodes = nodesOf(logged.Plan);
  const [outer, inner, ...further] = nodes;
  const isIndexWalk =
    outer?.["Node Type"] === "Limit" &&
    inner?.["Node Type"] === "Index Scan" &&
    inner["Index Name"] === "pets_status_id" &&
    inner["Index Cond"] !== undefined &&
    further.length === 0;
  if (!isIndexWalk || nodes.some(({ Filter }) => Filter !== undefined)) return describePlan(logged);
  const buffers = buffersOf(logged);
  return buffers > mostBuffers(pets) ? `${buffers} buffers` : undefined;
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
