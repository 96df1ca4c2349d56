// Shows the usage history as `GET /usage/history` reports it, which costs nothing.
import { apiKey } from "./api-key.js";
import { byId, codeLink, element } from "./elements.js";
import { parseJson } from "./json-text.js";
import { legendOf, openUsageChart } from "./usage-chart.js";
import { chartOf, rowsOf, type UsageHistory } from "./usage-series.js";

interface HistoryView {
  /** Forgets what is shown, if the key has changed, and loads the history of the key. */
  load(): void;
  /** The limit of the account in a day. */
  setDayLimit(limit: number): void;
}

/** The instances write their counts every 10 s. */
const refreshIntervalMs = 60_000;

export function openUsageHistory(): HistoryView {
  const state = byId("history-state");
  const view = byId("history");
  const legend = byId("history-legend");
  const hours = openUsageChart(byId("history-hours"), "hours");
  const days = openUsageChart(byId("history-days"), "days");
  const textWithoutKey = state.textContent ?? "";
  let loading = new AbortController();
  let loadedKey: string | undefined;
  /** The service has refused the key, so it is not asked again. */
  let isRefused = false;
  let history: UsageHistory | undefined;
  let dayLimit: number | undefined;

  function load(): void {
    loading.abort();
    loading = new AbortController();
    const key = apiKey();
    if (key !== loadedKey) {
      loadedKey = key;
      history = undefined;
      dayLimit = undefined;
      view.hidden = true;
      say(key === undefined ? textWithoutKey : "Loading ...");
    }
    if (key !== undefined) void request(key, loading.signal);
  }

  async function request(key: string, signal: AbortSignal): Promise<void> {
    try {
      const response = await fetch("/usage/history", { headers: { Authorization: `Bearer ${key}` }, signal });
      const body = (parseJson(await response.text()) ?? {}) as Partial<
        UsageHistory & { code: string; message: string }
      >;
      isRefused = response.status === 401;
      if (body.series !== undefined) show(body as UsageHistory);
      else if (body.code === undefined) say(`The response with status ${response.status} is not from the pet store.`);
      // After a 429, the history on the page is a second old.
      else if (response.status !== 429 || history === undefined) say(`${body.message} `, codeLink(body.code));
      // A key can load its history once a second, which a reload of the page has used up.
      if (response.status === 429 && history === undefined) {
        // A proxy may send no number of seconds.
        const retryAfterMs = 1_000 * Number(response.headers.get("Retry-After")) || refreshIntervalMs;
        setTimeout(() => {
          if (!signal.aborted) load();
        }, retryAfterMs);
      }
    } catch (error) {
      if (!signal.aborted) say(`No response: ${error instanceof Error ? error.message : error}`);
    }
  }

  function say(...content: readonly (string | Node)[]): void {
    state.replaceChildren(element("p", ...content));
  }

  function show(loaded: UsageHistory): void {
    history = loaded;
    state.replaceChildren();
    view.hidden = false;
    draw();
  }

  function draw(): void {
    if (history === undefined || loadedKey === undefined) return;
    const chart = chartOf(history, "hours", loadedKey);
    legend.replaceChildren(...legendOf(chart));
    legend.hidden = chart.keys.length === 0;
    hours.show(chart, rowsOf(history, "hours", loadedKey), undefined);
    days.show(chartOf(history, "days", loadedKey), rowsOf(history, "days", loadedKey), dayLimit);
  }

  setInterval(() => {
    if (!isRefused && document.visibilityState === "visible") load();
  }, refreshIntervalMs);
  return {
    load,
    setDayLimit(limit) {
      if (limit === dayLimit) return;
      dayLimit = limit;
      draw();
    },
  };
}
