// Shows the quota as `GET /rate_limit` reports it, which costs nothing.
import { apiKey, openKeyForm } from "./api-key.js";
import { byId, codeLink, element, link, within } from "./elements.js";
import { parseJson } from "./json-text.js";
import { describeKey, type KeyStatus } from "./key-text.js";
import { dateText, durationText, momentText } from "./moments.js";
import { openUsageHistory } from "./usage-history.js";

interface WindowStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly reset: number;
}

/** An instance of an earlier version sends no `key` and no `account`. */
interface RateLimitStatus extends Partial<KeyStatus> {
  readonly plan: string;
  readonly minute: WindowStatus;
  readonly day: WindowStatus;
  /** Epoch seconds. */
  readonly bannedUntil: number | null;
}

/** A sentence about the state, and what to do about it. */
interface Notice {
  readonly kind: "good" | "near" | "bad";
  readonly title: string;
  /** Epoch seconds. The notice shows how long it is until then. */
  readonly until?: number;
  readonly advice: readonly (string | Node)[];
}

const refreshIntervalMs = 15_000;
/** The part of a limit that is left when the page begins to warn. */
const nearPart = 0.2;
/** From this time before its end, the page warns of the end of the key. The header API-Key-Expires has the same time. */
const endNearMs = 30 * 86_400_000;
const state = byId("usage-state");
const time = byId("usage-time");
const keyFacts = byId("usage-key");
const plan = byId("usage-plan");
const gauges = byId("gauges");
const controls = byId("refresh-controls");
const usageHistory = openUsageHistory();
/** The service has refused the current key, so the page does not refresh by itself. */
let isRefused = false;
/** The next refresh aborts this one. A late response would show old numbers, or the numbers of another key. */
let refreshing = new AbortController();
/** The clock of the service in epoch milliseconds, because the clock of the browser may be wrong. */
let now = Date.now;
/** When a window or a ban ends, in epoch milliseconds of the service. The numbers change then. */
let nextChangeMs = Infinity;

byId("refresh").addEventListener("click", () => {
  announce([{ kind: "good", title: "Loading ...", advice: [] }]);
  void refresh();
  usageHistory.load();
});
setInterval(() => {
  if (!isRefused && document.visibilityState === "visible") void refresh();
}, refreshIntervalMs);
setInterval(() => {
  showCountdowns();
  if (now() < nextChangeMs || document.visibilityState !== "visible") return;
  nextChangeMs = Infinity;
  void refresh();
}, 1_000);
openKeyForm(showKey);

function showKey(): void {
  const hasKey = apiKey() !== undefined;
  isRefused = false;
  controls.hidden = !hasKey;
  showNoQuota("good", hasKey ? "Loading ..." : "Enter an API key to see its limits.");
  void refresh();
  usageHistory.load();
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
    if (body.minute !== undefined) {
      setClock(response.headers.get("Date"));
      showQuota(body as RateLimitStatus);
    } else if (body.code !== undefined) showNoQuota("bad", `${body.message} `, codeLink(body.code));
    else showNoQuota("bad", `The response with status ${response.status} is not from the pet store.`);
  } catch (error) {
    if (signal.aborted) return;
    showNoQuota("bad", `No response: ${error instanceof Error ? error.message : error}`);
  }
}

function setClock(date: string | null): void {
  const serviceMs = Date.parse(date ?? "");
  const receivedMs = performance.now();
  now = Number.isNaN(serviceMs) ? Date.now : () => serviceMs + performance.now() - receivedMs;
}

function showNoQuota(kind: Notice["kind"], title: string, ...advice: readonly Node[]): void {
  announce([{ kind, title, advice }]);
  time.textContent = "";
  gauges.hidden = true;
  keyFacts.textContent = "";
  plan.textContent = "";
  nextChangeMs = Infinity;
  markPlan(undefined);
}

function showQuota(status: RateLimitStatus): void {
  const { plan: planName, minute, day, bannedUntil, key, account } = status;
  time.textContent = `As of ${momentText(now(), now())}. The limits refresh every 15 s while this page is visible.`;
  announce([...noticesOf(status), ...endNoticesOf(status)]);
  keyFacts.textContent = key && account ? describeKey({ key, account }) : "";
  markPlan(planName);
  const planTitle = document.querySelector("[data-current] th")?.textContent ?? planName;
  plan.textContent = `You have the ${planTitle} plan: ${requests(minute.limit)} a minute, ${day.limit.toLocaleString("en")} a day.`;
  // The minute has no requests to give while the day is used up or the key is banned, whatever its own count says.
  const blocked =
    day.remaining === 0 ? "none can be sent, because the day is used up" : "none can be sent during the ban";
  const isBlocked = bannedUntil !== null || day.remaining === 0;
  showWindow(byId("gauge-minute"), minute, isBlocked && minute.remaining > 0 ? blocked : undefined);
  showWindow(byId("gauge-day"), day, undefined);
  usageHistory.setDayLimit(day.limit);
  gauges.hidden = false;
  nextChangeMs = 1_000 * Math.min(minute.reset, bannedUntil ?? Infinity);
  showCountdowns();
}

/** Everything that keeps requests from being admitted now, and then what soon will. */
function noticesOf({ minute, day, bannedUntil }: RateLimitStatus): readonly Notice[] {
  const notices: Notice[] = [];
  if (bannedUntil !== null) {
    notices.push({
      kind: "bad",
      title: `This key is banned until ${momentOf(bannedUntil)}`,
      until: bannedUntil,
      advice: [
        "It continued to send requests after 429 responses. Until then, every request gets 429 ",
        codeLink("API_KEY_BANNED"),
        ". Stop the program that uses this key, and let it wait for Retry-After: ",
        link("/docs/limits#bans", "what leads to a ban"),
        ".",
      ],
    });
  }
  if (day.remaining === 0) {
    notices.push({
      kind: "bad",
      title: `The requests of this day are used up until ${momentOf(day.reset)}`,
      until: day.reset,
      advice: [
        "Until then, requests of all keys of your account get 429 ",
        codeLink("DAILY_QUOTA_EXCEEDED"),
        ". Stop your programs until then, or get a higher plan: ",
        link("/docs/limits", "rate limits"),
        ".",
      ],
    });
  } else if (isNear(day)) notices.push(nearNotice("day", day));
  if (bannedUntil !== null || day.remaining === 0) return notices;
  if (minute.remaining === 0) {
    notices.unshift({
      kind: "bad",
      title: `The requests of this minute are used up until ${momentOf(minute.reset)}`,
      until: minute.reset,
      advice: [
        "Requests get 429 ",
        codeLink("RATE_LIMIT_EXCEEDED"),
        " until then. A program that waits for Retry-After needs nothing else: ",
        link("/docs/limits#how-a-client-stays-within-the-limits", "how a client stays within the limits"),
        ".",
      ],
    });
  } else if (isNear(minute)) notices.push(nearNotice("minute", minute));
  return notices.length > 0 ? notices : [{ kind: "good", title: "This key can send requests.", advice: [] }];
}

function isNear({ limit, remaining }: WindowStatus): boolean {
  return remaining <= nearPart * limit;
}

function nearNotice(name: "minute" | "day", { reset }: WindowStatus): Notice {
  return {
    kind: "near",
    title: `At least ${100 - 100 * nearPart}\u00a0% of the requests of this ${name} are used. The limit resets at ${momentOf(reset)}`,
    until: reset,
    advice: [
      "When they are used up, requests get 429 until then. Send fewer: ",
      link("/docs/limits#how-a-client-stays-within-the-limits", "how a client stays within the limits"),
      ".",
    ],
  };
}

function endNoticesOf({ key }: RateLimitStatus): readonly Notice[] {
  const endsAtMs = Date.parse(key?.expiresAt ?? "");
  if (Number.isNaN(endsAtMs) || endsAtMs - now() > endNearMs) return [];
  const notice: Notice = {
    kind: "near",
    title: `This key ends on ${dateText(endsAtMs)}`,
    until: endsAtMs / 1_000,
    advice: [
      "After that, requests get 401 ",
      codeLink("API_KEY_EXPIRED"),
      ". Ask the operator of the service for a new key, and replace this one in your programs.",
    ],
  };
  return [notice];
}

/** A screen reader reads the notices each time they are written, so the same notices are not written again. */
function announce(notices: readonly Notice[]): void {
  const written = notices.map(({ kind, title, until, advice }) => {
    const notice = element("p", element("strong", title));
    if (until !== undefined) notice.append(countdown(until), ". ");
    notice.append(...advice);
    notice.className = `notice ${kind}`;
    return notice;
  });
  const text = (parent: ParentNode) => [...parent.children].map(withoutCountdown).join("\n");
  const holder = element("div", ...written);
  if (text(state) !== text(holder)) state.replaceChildren(...written);
  showCountdowns();
}

function withoutCountdown(notice: Element): string {
  const copy = notice.cloneNode(true) as Element;
  for (const countdown of copy.querySelectorAll("[data-until]")) countdown.remove();
  return `${copy.className} ${copy.textContent}`;
}

/** Hidden from screen readers, which would read it each second. The line below each meter has the time too. */
function countdown(until: number): HTMLElement {
  const created = element("span");
  created.dataset.until = `${until}`;
  created.ariaHidden = "true";
  return created;
}

function showCountdowns(): void {
  for (const shown of document.querySelectorAll<HTMLElement>("[data-until]")) {
    shown.textContent = `, ${durationText(1_000 * Number(shown.dataset.until) - now())}`;
  }
}

/** @param blocked why none of the remaining requests can be sent now */
function showWindow(gauge: HTMLElement, { limit, remaining, reset }: WindowStatus, blocked: string | undefined): void {
  const value = blocked === undefined ? remaining : 0;
  const meter = within(gauge, "meter");
  // The meter is green from `high` on, and the page warns at exactly the near part.
  const high = nearPart * limit + 0.5;
  Object.assign(meter, { max: limit, value, low: (nearPart / 2) * limit, high, optimum: limit });
  gauge.classList.toggle("used-up", value === 0);
  within(gauge, ".left").textContent = remaining.toLocaleString("en");
  within(gauge, ".of").textContent =
    `of ${limit.toLocaleString("en")} left${blocked === undefined ? "" : `; ${blocked}`}`;
  const resetLine = within(gauge, ".reset");
  const left = element("span");
  left.dataset.until = `${reset}`;
  resetLine.replaceChildren(`resets at ${momentOf(reset)}`, left);
}

function momentOf(epochSeconds: number): string {
  return momentText(1_000 * epochSeconds, now());
}

function requests(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "request" : "requests"}`;
}

function markPlan(name: string | undefined): void {
  for (const row of document.querySelectorAll<HTMLElement>("#plans [data-plan]")) {
    row.toggleAttribute("data-current", row.dataset.plan === name);
  }
}
