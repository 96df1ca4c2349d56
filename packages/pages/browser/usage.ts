// Shows the quota as `GET /rate_limit` reports it, which costs nothing, and counts down the seconds.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, within } from "./elements.js";

const windows = ["minute", "day"] as const;
type Window = (typeof windows)[number];

interface WindowReading {
  readonly limit: number;
  readonly remaining: number;
  /** On the monotonic clock (`performance.now`), so that a wrong local time does not matter. */
  readonly resetAtMs: number;
}

const readings = new Map<Window, WindowReading>();
const state = byId("usage-state", HTMLElement);
const refreshButton = byId("refresh", HTMLButtonElement);
const autoRefresh = byId("refresh-often", HTMLInputElement);
const refreshIntervalMs = 15_000;
let refreshedAtMs = Number.NEGATIVE_INFINITY;

openKeyForm(() => void refresh());
refreshButton.addEventListener("click", () => void refresh());
setInterval(tick, 1_000);
if (apiKey() !== undefined) void refresh();

async function refresh(): Promise<void> {
  const key = apiKey();
  readings.clear();
  refreshedAtMs = performance.now();
  if (key === undefined) {
    state.textContent = "Enter an API key to see its limits.";
    byId("usage-plan", HTMLElement).textContent = "";
    draw();
    return;
  }
  refreshButton.disabled = true;
  try {
    const response = await fetch("/rate_limit", { headers: { Authorization: `Bearer ${key}` } });
    show(response, await response.json());
  } catch (error) {
    // Show the error to the user. The gauges stay empty, because old numbers would be wrong.
    state.textContent = `No response: ${error instanceof Error ? error.message : error}`;
  }
  refreshButton.disabled = false;
  draw();
}

interface WindowStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly reset: number;
}

/** The body of `GET /rate_limit`, or an error. */
type RateLimitStatus =
  | {
      readonly plan: string;
      readonly minute: WindowStatus;
      readonly day: WindowStatus;
      readonly bannedUntil: number | null;
    }
  | { readonly code: string; readonly message: string };

function show({ headers }: Response, status: RateLimitStatus): void {
  state.className = "";
  if ("code" in status) {
    state.className = "status bad";
    state.textContent = `${status.code}: ${status.message}`;
    return;
  }
  // The clock of the service, because the local one may be wrong.
  const nowSeconds = Date.parse(headers.get("Date") ?? "") / 1_000;
  for (const window of windows) {
    const { limit, remaining, reset } = status[window];
    readings.set(window, { limit, remaining, resetAtMs: performance.now() + 1_000 * (reset - nowSeconds) });
  }
  const at = new Date().toLocaleTimeString();
  state.textContent = `As of ${at}.`;
  if (status.bannedUntil !== null) {
    state.className = "status bad";
    state.textContent = `As of ${at}: this key is banned for another ${Math.ceil(status.bannedUntil - nowSeconds)} s.`;
  }
  byId("usage-plan", HTMLElement).textContent = planText(status.plan, status.minute.limit, status.day.limit);
}

function planText(plan: string, perMinute: number, perDay: number): string {
  let name = plan;
  for (const row of document.querySelectorAll<HTMLElement>("#plans [data-plan]")) {
    const isCurrent = row.dataset.plan === plan;
    row.toggleAttribute("data-current", isCurrent);
    if (isCurrent) name = row.querySelector("th")?.textContent ?? plan;
  }
  return `You have the ${name} plan: ${perMinute.toLocaleString()} requests a minute, ${perDay.toLocaleString()} a day.`;
}

function tick(): void {
  draw();
  const isDue = performance.now() - refreshedAtMs >= refreshIntervalMs;
  if (autoRefresh.checked && isDue && document.visibilityState === "visible" && apiKey() !== undefined) void refresh();
}

function draw(): void {
  for (const window of windows) drawGauge(byId(`gauge-${window}`, HTMLElement), readings.get(window));
}

function drawGauge(gauge: HTMLElement, reading: WindowReading | undefined): void {
  const dial = within(gauge, ".dial", HTMLElement);
  const setText = (selector: string, text: string) => {
    within(gauge, selector, HTMLElement).textContent = text;
  };
  const seconds = reading === undefined ? 0 : Math.ceil((reading.resetAtMs - performance.now()) / 1_000);
  const limit = reading?.limit ?? 1;
  // After the reset the page shows the full limit until the next refresh.
  const remaining = reading === undefined ? 0 : seconds <= 0 ? limit : reading.remaining;
  const share = remaining / limit;
  within(gauge, ".level", SVGElement).setAttribute("stroke-dasharray", `${100 * share} 100`);
  gauge.dataset.level = reading === undefined ? "unknown" : share <= 0.1 ? "low" : share <= 0.3 ? "medium" : "good";
  setText(".left", reading === undefined ? "-" : remaining.toLocaleString());
  setText(".of", reading === undefined ? "of -" : `of ${limit.toLocaleString()} left`);
  setText(".reset", reading === undefined ? "resets -" : resetText(reading, seconds));
  dial.ariaValueMax = `${limit}`;
  dial.ariaValueNow = `${remaining}`;
  dial.ariaValueText = reading === undefined ? "not known yet" : `${remaining} of ${limit} requests left`;
}

function resetText({ resetAtMs }: WindowReading, seconds: number): string {
  if (seconds <= 0) return "reset; refresh to see the current numbers";
  const at = new Date(Date.now() + resetAtMs - performance.now()).toLocaleTimeString();
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const left =
    hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  return `resets in ${left}, at ${at}`;
}
