// Shows the quota from the headers of one response, and counts down the seconds. Only a refresh costs a request.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, within } from "./elements.js";
import { readWindow, type WindowReading } from "./rate-limit.js";

const windows = ["minute", "day"] as const;
type Window = (typeof windows)[number];

interface TimedReading extends WindowReading {
  /** On the monotonic clock (`performance.now`), so that a wrong local time does not matter. */
  readonly resetAtMs: number;
}

const readings = new Map<Window, TimedReading>();
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
    const body: unknown = response.ok ? undefined : await response.json();
    show(response, body);
  } catch (error) {
    // Show the error to the user. The gauges stay empty, because old numbers would be wrong.
    state.textContent = `No response: ${error instanceof Error ? error.message : error}`;
  }
  refreshButton.disabled = false;
  draw();
}

function show({ status, headers }: Response, body: unknown): void {
  const code = typeof body === "object" && body !== null && "code" in body ? String(body.code) : "";
  const message = typeof body === "object" && body !== null && "message" in body ? String(body.message) : "";
  waitUntilMs = performance.now() + 1_000 * Number(headers.get("Retry-After") ?? 0);
  if (status === 401) {
    // With a 401 the headers describe the limit of the IP address, not of an account.
    state.textContent = `${code}: ${message}`;
    return;
  }
  for (const window of windows) {
    const reading = readWindow(headers, window);
    if (reading !== undefined)
      readings.set(window, { ...reading, resetAtMs: performance.now() + 1_000 * reading.resetInSeconds });
  }
  const at = new Date().toLocaleTimeString();
  state.className = code === "" ? "" : "status bad";
  state.textContent = code === "" ? `As of ${at}.` : `As of ${at}: ${code} ${waitText(headers)}. ${message}`;
  byId("usage-plan", HTMLElement).textContent = planText(readings.get("minute")?.limit, readings.get("day")?.limit);
}

function waitText(headers: Headers): string {
  const seconds = headers.get("Retry-After");
  return seconds === null ? "" : `for another ${seconds} s`;
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

function drawGauge(gauge: HTMLElement, reading: TimedReading | undefined): void {
  const dial = within(gauge, ".dial", HTMLElement);
  const level = within(gauge, ".level", SVGElement);
  const seconds = reading === undefined ? 0 : Math.ceil((reading.resetAtMs - performance.now()) / 1_000);
  // After the reset the page shows the full limit until the next refresh.
  const remaining = reading === undefined ? 0 : seconds <= 0 ? reading.limit : reading.remaining;
  const limit = reading?.limit ?? 1;
  const share = remaining / limit;
  level.setAttribute("stroke-dasharray", `${100 * share} 100`);
  gauge.dataset.level = reading === undefined ? "unknown" : share <= 0.1 ? "low" : share <= 0.3 ? "medium" : "good";
  within(gauge, ".left", HTMLElement).textContent = reading === undefined ? "-" : remaining.toLocaleString();
  within(gauge, ".of", HTMLElement).textContent = reading === undefined ? "of -" : `of ${limit.toLocaleString()} left`;
  within(gauge, ".reset", HTMLElement).textContent = reading === undefined ? "resets -" : resetText(reading, seconds);
  dial.setAttribute("aria-valuemax", `${limit}`);
  dial.setAttribute("aria-valuenow", `${remaining}`);
  dial.setAttribute(
    "aria-valuetext",
    reading === undefined ? "not known yet" : `${remaining} of ${limit} requests left`,
  );
}

function resetText({ resetAtMs }: TimedReading, seconds: number): string {
  if (seconds <= 0) return "reset; refresh to see the current numbers";
  const at = new Date(Date.now() + resetAtMs - performance.now()).toLocaleTimeString();
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const left =
    hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  return `resets in ${left}, at ${at}`;
}
