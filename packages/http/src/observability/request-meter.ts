/**
 * Counts what is answered in plain integers: every request passes here, and a label object hashed for each would cost
 * more than the rest of its bookkeeping. The number of series has a bound that no client and no route can lift; beyond
 * it, what is new is counted as `other`.
 */
import type { RequestContext } from "../pipeline/request-context.js";
import type { MetricFamily, Sample } from "./metric-family.js";

export interface RequestMeter {
  /** `status` is 499 where the client left before it had an answer. */
  count(context: Pick<RequestContext, "route" | "problem">, method: string, status: number, durationMs: number): void;
  readonly families: readonly MetricFamily[];
}

/** What is counted of one route and method. */
interface Operation {
  readonly route: string;
  readonly method: string;
  readonly statuses: Map<number | string, number>;
  readonly problems: Map<number | string, number>;
  /** For the methods that do work. */
  readonly durations: Durations | undefined;
}

interface Durations {
  /** How many took at most each of the bounds, and longer than the one before; the last took longer than all. */
  readonly counts: number[];
  sumMs: number;
}

const boundsMs = [5, 10, 25, 50, 100, 250, 1_000, 2_500];
/** Its buckets, the one without a bound, the sum and the count. */
const seriesOfDurations = boundsMs.length + 3;
const other = "other";

export function createRequestMeter(capacity = 320): RequestMeter {
  const routes = new Map<string, Map<string, Operation>>();
  const beyond = createOperation(other, other, false);
  const operations: Operation[] = [beyond];
  let room = capacity;

  function operationOf(route: string, sentMethod: string): Operation {
    const method = nameOf(sentMethod);
    let methods = routes.get(route);
    const known = methods?.get(method);
    if (known !== undefined) return known;
    const isTimed = method === "GET" || method === "POST";
    if (!take(isTimed ? seriesOfDurations : 1)) return beyond;
    if (methods === undefined) {
      methods = new Map();
      routes.set(route, methods);
    }
    const operation = createOperation(route, method, isTimed);
    methods.set(method, operation);
    operations.push(operation);
    return operation;
  }

  function take(series: number): boolean {
    if (room < series) return false;
    room -= series;
    return true;
  }

  function increment(counts: Map<number | string, number>, key: number | string): void {
    const count = counts.get(key);
    if (count !== undefined) counts.set(key, count + 1);
    else if (take(1)) counts.set(key, 1);
    else counts.set(other, (counts.get(other) ?? 0) + 1);
  }

  return {
    count({ route, problem }, method, status, durationMs) {
      const { statuses, problems, durations } = operationOf(route, method);
      increment(statuses, status);
      if (problem !== undefined) increment(problems, problem);
      if (durations !== undefined) record(durations, durationMs);
    },
    families: [
      {
        name: "petstore_http_requests_total",
        help: "Requests answered, by route template, method and status; 499 where the client left before.",
        type: "counter",
        samples: () => samplesOf(operations, "statuses", "status"),
      },
      {
        name: "petstore_http_problems_total",
        help: "Requests answered with a problem, by route template, method and error code.",
        type: "counter",
        samples: () => samplesOf(operations, "problems", "code"),
      },
      {
        name: "petstore_http_request_duration_seconds",
        help: "From the first byte of the headers to the last of the answer, by route template and method.",
        type: "histogram",
        samples: () => operations.flatMap(samplesOfDurations),
      },
    ],
  };
}

function createOperation(route: string, method: string, isTimed: boolean): Operation {
  const durations = isTimed ? { counts: [...boundsMs, 0].map(() => 0), sumMs: 0 } : undefined;
  return { route, method, statuses: new Map(), problems: new Map(), durations };
}

/** HEAD is GET without the body. */
function nameOf(method: string): string {
  if (method === "GET" || method === "HEAD") return "GET";
  return method === "POST" || method === "OPTIONS" ? method : other;
}

function record(durations: Durations, durationMs: number): void {
  let bucket = 0;
  while (durationMs > (boundsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
  durations.sumMs += durationMs;
}

function samplesOf(
  operations: readonly Operation[],
  counts: "statuses" | "problems",
  label: "status" | "code",
): Sample[] {
  return operations.flatMap((operation) => {
    const { route, method } = operation;
    return [...operation[counts]].map(([key, value]) => ({ labels: { route, method, [label]: key }, value }));
  });
}

function samplesOfDurations({ route, method, durations }: Operation): Sample[] {
  if (durations === undefined) return [];
  const name = "petstore_http_request_duration_seconds";
  const labels = { route, method };
  let upToHere = 0;
  const buckets = durations.counts.map((count, bucket) => {
    upToHere += count;
    const boundMs = boundsMs[bucket];
    const le = boundMs === undefined ? "+Inf" : boundMs / 1_000;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: upToHere };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: durations.sumMs / 1_000 },
    { metricName: `${name}_count`, labels, value: upToHere },
  ];
}
