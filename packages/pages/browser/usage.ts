// Shows the quota as `GET /rate_limit` reports it, which costs nothing.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, within } from "./elements.js";
import { parseJson } from "./json-text.js";

interface WindowStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly reset: number;
}

interface RateLimitStatus {
  readonly plan: string;
  readonly minute: WindowStatus;
  readonly day: WindowStatus;
  /** Epoch seconds. */
  readonly bannedUntil: number | null;
}

const refreshIntervalMs = 15_000;
const state = byId("usage-state");
const time = byId("usage-time");
const plan = byId("usage-plan");
const gauges = byId("gauges");
const controls = byId("refresh-controls");
/** The service has refused the current key, so the page does not refresh by itself. */
let isRefused = false;
/** The next refresh aborts this one. A late response would show old numbers, or the numbers of another key. */
let refreshing = new AbortController();

byId("refresh").addEventListener("click", () => {
  announce("Loading ...");
  void refresh();
});
setInterval(() => {
  if (!isRefused && document.visibilityState === "visible") void refresh();
}, refreshIntervalMs);
openKeyForm(showKey);

function showKey(): void {
  const hasKey = apiKey() !== undefined;
  isRefused = false;
  controls.hidden = !hasKey;
  showNoQuota(hasKey ? "Loading ..." : "Enter an API key to see its limits.");
  void refresh();
}

async function refresh(): Promise<void> {
  refreshing.abort();
  refreshing = new AbortController();
  const { signal } = refreshing;
  const key = apiKey();
  if (key === undefined) return;
  try {
    const response = await fetch("/rate_limit", { headers: { Authorization: `Bearer ${key}` }, signal });
    const text = await response.text();
    const body = (parseJson(text) ?? {}) as Partial<RateLimitStatus & { code: string; message: string }>;
    isRefused = response.status === 401;
    if (body.minute !== undefined) showQuota(body as RateLimitStatus);
    else if (body.code !== undefined) showNoQuota(`${body.code}: ${body.message}`, "status bad");
    else showNoQuota(`The response with status ${response.status} is not from the pet store.`, "status bad");
  } catch (error) {
    if (signal.aborted) return;
    showNoQuota(`No response: ${error instanceof Error ? error.message : error}`, "status bad");
  }
}

/** A screen reader reads the text each time it is written, so the same text is not written again. */
function announce(text: string, className = ""): void {
  state.className = className;
  if (state.textContent !== text) state.textContent = text;
}

function showNoQuota(text: string, className = ""): void {
  announce(text, className);
  time.textContent = "";
  gauges.hidden = true;
  plan.textContent = "";
  markPlan(undefined);
}

function showQuota({ plan: planName, minute, day, bannedUntil }: RateLimitStatus): void {
  time.textContent = `As of ${new Date().toLocaleTimeString()}.`;
  if (bannedUntil === null) announce("The limits are loaded.");
  else announce(`This key is banned until ${localTime(bannedUntil)}.`, "status bad");
  markPlan(planName);
  const planTitle = document.querySelector("[data-current] th")?.textContent ?? planName;
  const limits = `${minute.limit.toLocaleString()} requests a minute, ${day.limit.toLocaleString()} a day`;
  plan.textContent = `You have the ${planTitle} plan: ${limits}.`;
  showWindow(byId("gauge-minute"), minute);
  showWindow(byId("gauge-day"), day);
  gauges.hidden = false;
}

function showWindow(gauge: HTMLElement, { limit, remaining, reset }: WindowStatus): void {
  const meter = within(gauge, "meter");
  Object.assign(meter, { max: limit, value: remaining, low: 0.1 * limit, high: 0.3 * limit, optimum: limit });
  within(gauge, ".left").textContent = remaining.toLocaleString();
  within(gauge, ".of").textContent = `of ${limit.toLocaleString()} left`;
  within(gauge, ".reset").textContent = `resets at ${localTime(reset)}`;
}

function markPlan(name: string | undefined): void {
  for (const row of document.querySelectorAll<HTMLElement>("#plans [data-plan]")) {
    row.toggleAttribute("data-current", row.dataset.plan === name);
  }
}

function localTime(epochSeconds: number): string {
  return new Date(1_000 * epochSeconds).toLocaleTimeString();
}
