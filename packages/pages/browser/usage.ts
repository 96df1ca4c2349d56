// Shows what one answer's headers say, and counts the seconds from there by itself: only a refresh costs a request.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, within } from "./elements.js";
import { readWindow, type WindowReading } from "./rate-limit.js";

const windows = ["minute", "day"] as const;
type Window = (typeof windows)[number];

interface Shown extends WindowReading {
  /** On this machine's own steady clock, so that a wrong wall clock shows no wrong reset. */
  readonly resetAtMs: number;
}

const shown = new Map<Window, Shown>();
const state = byId("usage-state", HTMLElement);
const refreshButton = byId("refresh", HTMLButtonElement);
const often = byId("refresh-often", HTMLInputElement);
const refreshEveryMs = 15_000;
let refreshedAtMs = Number.NEGATIVE_INFINITY;
let waitUntilMs = 0;

openKeyForm(() => void refresh());
refreshButton.addEventListener("click", () => void refresh());
setInterval(tick, 1_000);
if (apiKey() !== undefined) void refresh();

async function refresh(): Promise<void> {
  const key = apiKey();
  shown.clear();
  refreshedAtMs = performance.now();
  if (key === undefined) {
    state.textContent = "Enter a key to see its limits.";
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
    // The person who asked reads it here; the gauges stay empty rather than old.
    state.textContent = `No answer: ${error instanceof Error ? error.message : error}`;
  }
  refreshButton.disabled = false;
  draw();
}

function show({ status, headers }: Response, body: unknown): void {
  const code = typeof body === "object" && body !== null && "code" in body ? String(body.code) : "";
  const message = typeof body === "object" && body !== null && "message" in body ? String(body.message) : "";
  waitUntilMs = performance.now() + 1_000 * Number(headers.get("Retry-After") ?? 0);
  if (status === 401) {
    // These headers are the address's, not an account's.
    state.textContent = `${code}: ${message}`;
    return;
  }
  for (const window of windows) {
    const reading = readWindow(headers, window);
    if (reading !== undefined)
      shown.set(window, { ...reading, resetAtMs: performance.now() + 1_000 * reading.resetInSeconds });
  }
  const at = new Date().toLocaleTimeString();
  state.className = code === "" ? "" : "status bad";
  state.textContent = code === "" ? `As of ${at}.` : `As of ${at}: ${code} ${waitText(headers)}. ${message}`;
  byId("usage-plan", HTMLElement).textContent = planText(shown.get("minute")?.limit, shown.get("day")?.limit);
}

function waitText(headers: Headers): string {
  const seconds = headers.get("Retry-After");
  return seconds === null ? "" : `for another ${seconds} s`;
}

/** No header names the plan; its numbers do. */
function planText(perMinute: number | undefined, perDay: number | undefined): string {
  if (perMinute === undefined || perDay === undefined) return "";
  const numbers = `${perMinute.toLocaleString()} requests a minute, ${perDay.toLocaleString()} a day`;
  for (const row of document.querySelectorAll<HTMLElement>("#plans [data-per-minute]")) {
    const isSame = Number(row.dataset.perMinute) === perMinute && Number(row.dataset.perDay) === perDay;
    row.toggleAttribute("data-current", isSame);
    if (isSame) return `Your limits are those of the ${row.querySelector("th")?.textContent} plan: ${numbers}.`;
  }
  return `Your limits are your own, as agreed: ${numbers}.`;
}

function tick(): void {
  const nowMs = performance.now();
  draw();
  const isDue = nowMs - refreshedAtMs >= refreshEveryMs && nowMs >= waitUntilMs;
  if (often.checked && isDue && document.visibilityState === "visible" && apiKey() !== undefined) void refresh();
}

function draw(): void {
  for (const window of windows) drawGauge(byId(`gauge-${window}`, HTMLElement), shown.get(window));
}

function drawGauge(gauge: HTMLElement, reading: Shown | undefined): void {
  const dial = within(gauge, ".dial", HTMLElement);
  const level = within(gauge, ".level", SVGElement);
  const seconds = reading === undefined ? 0 : Math.ceil((reading.resetAtMs - performance.now()) / 1_000);
  // A window that has begun anew since is whole again, as far as this page knows.
  const remaining = reading === undefined ? 0 : seconds <= 0 ? reading.limit : reading.remaining;
  const limit = reading?.limit ?? 1;
  const share = remaining / limit;
  level.setAttribute("stroke-dasharray", `${100 * share} 100`);
  gauge.dataset.level = reading === undefined ? "unknown" : share <= 0.1 ? "low" : share <= 0.3 ? "middling" : "good";
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

function resetText({ resetAtMs }: Shown, seconds: number): string {
  if (seconds <= 0) return "began anew; refresh to see it";
  const at = new Date(Date.now() + resetAtMs - performance.now()).toLocaleTimeString();
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const left =
    hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  return `resets in ${left}, at ${at}`;
}
