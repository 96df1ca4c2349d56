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
const plan = byId("usage-plan", HTMLElement);
const gauges = byId("gauges", HTMLElement);
const controls = byId("refresh-controls", HTMLElement);
const refreshButton = byId("refresh", HTMLButtonElement);
const refreshIntervalMs = 15_000;
let refreshedAtMs = Number.NEGATIVE_INFINITY;

openKeyForm(() => {
  forgetReadings();
  void refresh();
});
refreshButton.addEventListener("click", () => void refresh());
setInterval(tick, 1_000);
if (apiKey() !== undefined) void refresh();

async function refresh(): Promise<void> {
  const key = apiKey();
  refreshedAtMs = performance.now();
  controls.hidden = key === undefined;
  if (key === undefined) {
    state.className = "";
    state.textContent = "Enter an API key to see its limits.";
    return;
  }
  refreshButton.disabled = true;
  try {
    const response = await fetch("/rate_limit", { headers: { Authorization: `Bearer ${key}` } });
    show(response, await response.json());
  } catch (error) {
    // Show the error to the user, and no gauges, because old numbers would be wrong.
    forgetReadings();
    state.textContent = `No response: ${error instanceof Error ? error.message : error}`;
  }
  refreshButton.disabled = false;
  draw();
}

function forgetReadings(): void {
  readings.clear();
  plan.textContent = "";
  for (const row of planRows()) row.removeAttribute("data-current");
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
    forgetReadings();
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
  plan.textContent = planText(status.plan, status.minute.limit, status.day.limit);
}

function planText(planName: string, perMinute: number, perDay: number): string {
  let name = planName;
  for (const row of planRows()) {
    const isCurrent = row.dataset.plan === planName;
    row.toggleAttribute("data-current", isCurrent);
    if (isCurrent) name = row.querySelector("th")?.textContent ?? planName;
  }
  return `You have the ${name} plan: ${perMinute.toLocaleString()} requests a minute, ${perDay.toLocaleString()} a day.`;
}

function planRows(): NodeListOf<HTMLElement> {
  return document.querySelectorAll<HTMLElement>("#plans [data-plan]");
}

function tick(): void {
  draw();
  const isDue = performance.now() - refreshedAtMs >= refreshIntervalMs;
  if (isDue && document.visibilityState === "visible" && apiKey() !== undefined) void refresh();
}

function draw(): void {
  gauges.hidden = readings.size === 0;
  for (const [window, reading] of readings) drawGauge(byId(`gauge-${window}`, HTMLElement), reading);
}

function drawGauge(gauge: HTMLElement, reading: WindowReading): void {
  const meter = within(gauge, "meter", HTMLMeterElement);
  const setText = (selector: string, text: string) => {
    within(gauge, selector, HTMLElement).textContent = text;
  };
  const { limit } = reading;
  const seconds = Math.ceil((reading.resetAtMs - performance.now()) / 1_000);
  // After the reset the page shows the full limit until the next refresh.
  const remaining = seconds <= 0 ? limit : reading.remaining;
  Object.assign(meter, { max: limit, value: remaining, low: 0.1 * limit, high: 0.3 * limit, optimum: limit });
  setText(".left", remaining.toLocaleString());
  setText(".of", `of ${limit.toLocaleString()} left`);
  setText(".reset", resetText(reading, seconds));
}

function resetText({ resetAtMs }: WindowReading, seconds: number): string {
  if (seconds <= 0) return "reset; refresh to see the current numbers";
  const at = new Date(Date.now() + resetAtMs - performance.now()).toLocaleTimeString();
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const left =
    hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  return `resets in ${left}, at ${at}`;
}
