import type { Comparable } from "../comparison.js";
import type { Goal } from "../goal.js";
import { petstoreGraphql, petstoreRest } from "../peers.js";
import { compareMemory } from "./compare-memory.js";
import { type MemoryMeasure, memoryMeasures } from "./memory-round.js";

const contestants = [petstoreRest, petstoreGraphql];

/** The memory of a service, from its start to many connections and requests. Its targets are absolute, without a peer. */
export const memory: Comparable = {
  name: "memory",
  summary: "RSS at start and under the mixed workload at 32 and 512 connections, and what 100,000 requests add",
  measures: memoryMeasures,
  words: { contestant: "server", callers: "connections" },
  rounds: 1,
  goals: contestants.flatMap(({ name }) => goalsOf(name)),
  ratios: [],
  compare: (options, deps) => compareMemory(contestants, options, deps),
};

/** No growth: within what readings of a process that keeps nothing differ by; RSS was seen to, by up to 5 MiB. */
function goalsOf(of: string): Goal<MemoryMeasure>[] {
  return [
    { measure: "startMebibytes", of, atMost: 110 },
    { measure: "at32Mebibytes", of, atMost: 150 },
    { measure: "at512Mebibytes", of, atMost: 200 },
    { measure: "grownMebibytes", of, atMost: 10 },
    { measure: "liveGrownMebibytes", of, atMost: 1 },
  ];
}
