// Shows the quota from the headers of one response, and counts down the seconds. Only a refresh costs a request.
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
let waitUntilMs = 0;

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
    const response = await fetch("/v1/pets?limit=1", { headers: { Authorization: `Bearer ${key}` } });
    show(response, response.ok ? {} : await response.json());
  } catch (error) {
    // Show the error to the user. The gauges stay empty, because old numbers would be wrong.
    state.textContent = `No response: ${error instanceof Error ? error.message : error}`;
  }
  refreshButton.disabled = false;
  draw();
}

/** `error` is empty after a success. */
function show({ status, headers }: Response, error: { readonly code?: string; readonly message?: string }): void {
  const { code = "", message } = error;
  waitUntilMs = performance.now() + 1_000 * Number(headers.get("Retry-After") ?? 0);
  if (status === 401) {
    // With a 401 the headers describe the limit of the IP address, not of an account.
    state.textContent = `${code}: ${message}`;
    return;
  }
  for (const window of windows) {
    const reading = readWindow(headers, window);
    if (reading !== undefined) readings.set(window, reading);
  }
  const at = new Date().toLocaleTimeString();
  const seconds = headers.get("Retry-After");
  const wait = seconds === null ? "" : `for another ${seconds} s`;
  state.className = code === "" ? "" : "status bad";
  state.textContent = code === "" ? `As of ${at}.` : `As of ${at}: ${code} ${wait}. ${message}`;
  byId("usage-plan", HTMLElement).textContent = planText(readings.get("minute")?.limit, readings.get("day")?.limit);
}

/** Reads a window from the RateLimit and RateLimit-Policy headers; `undefined` if one of them does not contain it. */
function readWindow(headers: Headers, window: Window): WindowReading | undefined {
  const policy = new RegExp(`"${window}";q=(\\d+)`).exec(headers.get("RateLimit-Policy") ?? "");
  const current = new RegExp(`"${window}";r=(\\d+);t=(\\d+)`).exec(headers.get("RateLimit") ?? "");
  if (policy === null || current === null) return undefined;
  const resetAtMs = performance.now() + 1_000 * Number(current[2]);
  return { limit: Number(policy[1]), remaining: Number(current[1]), resetAtMs };
}

/** Finds the plan by its limits, because no header names it. */
function planText(perMinute: number | undefined, perDay: number | undefined): string {
  if (perMinute === undefined || perDay === undefined) return "";
  const numbers = `${perMinute.toLocaleString()} requests a minute, ${perDay.toLocaleString()} a day`;
  for (const row of document.querySelectorAll<HTMLElement>("#plans [data-per-minute]")) {
    const isSame = Number(row.dataset.perMinute) === perMinute && Number(row.dataset.perDay) === perDay;
    row.toggleAttribute("data-current", isSame);
    if (isSame) return `You have the ${row.querySelector("th")?.textContent} plan: ${numbers}.`;
  }
  return `You have individual limits: ${numbers}.`;
}

function tick(): void {
  const nowMs = performance.now();
  draw();
  const isDue = nowMs - refreshedAtMs >= refreshIntervalMs && nowMs >= waitUntilMs;
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
