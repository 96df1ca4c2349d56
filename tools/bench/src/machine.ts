import { cpus } from "node:os";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly node: string;
}

export function thisMachine(): Machine {
  const all = cpus();
  return { processor: all[0]?.model ?? "unknown processor", cores: all.length, node: process.versions.node };
}

export function describeMachine({ processor, cores, node }: Machine): string {
  return `Node ${node}, ${cores} x ${processor}`;
}
