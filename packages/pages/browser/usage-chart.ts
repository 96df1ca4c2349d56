// Draws one chart of the usage history as SVG, in the size of its place on the page.
import { element, within } from "./elements.js";
import {
  axisTicks,
  type Chart,
  periodText,
  shortText,
  type TableRow,
  tickText,
  total,
  type Unit,
} from "./usage-series.js";

interface UsageChart {
  /** `limit` is drawn as a line if the bars come near it. */
  show(chart: Chart, rows: readonly TableRow[], limit: number | undefined): void;
}

const height = 220;
const edges = { top: 10, right: 2, bottom: 22, left: 48 };
/** Below this width, the axis of time has fewer labels. */
const narrowWidth = 520;
/** More than the width of a label such as `Nov 29` in common fonts. */
const widestLabel = 52;
/** The height of a count that is too small to be seen beside the others. */
const smallestHeight = 2;
/** From this part of the limit on, the busiest bar is near enough to show the limit as a line. */
const nearLimit = 0.2;

/** `place` is an element of `usage-page.ts`. */
export function openUsageChart(place: HTMLElement, unit: Unit): UsageChart {
  const plot = within(place, ".plot");
  const slider = within(place, "input") as HTMLInputElement;
  const picked = within(place, ".picked");
  const details = within(place, "details") as HTMLDetailsElement;
  let shown: { chart: Chart; rows: readonly TableRow[]; limit: number | undefined } | undefined;

  function show(chart: Chart, rows: readonly TableRow[], limit: number | undefined): void {
    // The last bar stays chosen when it is followed by a new one.
    const isLast = shown === undefined || Number(slider.value) === shown.chart.starts.length - 1;
    shown = { chart, rows, limit };
    slider.max = `${chart.starts.length - 1}`;
    if (isLast) slider.value = slider.max;
    const [admitted, refused] = [total(chart.admitted), total(chart.refused)];
    const isEmpty = admitted === 0 && refused === 0;
    within(place, ".summary").textContent = summaryText(chart, unit, limit);
    for (const part of [plot, within(place, ".pick"), picked, details]) part.hidden = isEmpty;
    if (isEmpty) return;
    draw();
    writeTable();
  }

  function draw(): void {
    const width = plot.clientWidth;
    if (shown === undefined || width === 0) return;
    plot.replaceChildren(drawing(shown.chart, unit, shown.limit, width));
    pick();
  }

  /** Marks the chosen bar, and writes its numbers below the chart. */
  function pick(): void {
    if (shown === undefined) return;
    const index = Number(slider.value);
    for (const column of plot.querySelectorAll(".column")) {
      column.classList.toggle("chosen", column.getAttribute("data-index") === `${index}`);
    }
    const text = barText(shown.chart, unit, index);
    picked.textContent = text;
    slider.setAttribute("aria-valuetext", text);
  }

  function pointAt(event: PointerEvent): void {
    if (shown === undefined) return;
    const { left, width } = plot.getBoundingClientRect();
    const part = (event.clientX - left - edges.left) / (width - edges.left - edges.right);
    const last = shown.chart.starts.length - 1;
    slider.value = `${Math.min(last, Math.max(0, Math.floor(part * (last + 1))))}`;
    pick();
  }

  /** A table of 90 days and 20 keys is long, so it is written only while it is open. */
  function writeTable(): void {
    const rows = details.open ? (shown?.rows ?? []) : [];
    within(details, "tbody").replaceChildren(
      ...rows.map(({ start, key, admitted, refused }) =>
        element(
          "tr",
          ...[shortText(start, unit), key, admitted.toLocaleString("en"), refused.toLocaleString("en")].map((text) =>
            element("td", text),
          ),
        ),
      ),
    );
  }

  slider.addEventListener("input", pick);
  plot.addEventListener("pointermove", pointAt);
  plot.addEventListener("pointerdown", pointAt);
  details.addEventListener("toggle", writeTable);
  new ResizeObserver(draw).observe(plot);
  return { show };
}

const periods: Readonly<Record<Unit, string>> = { hours: "the last 48 hours", days: "the last 90 days" };

function summaryText(chart: Chart, unit: Unit, limit: number | undefined): string {
  const [admitted, refused] = [total(chart.admitted), total(chart.refused)];
  if (admitted === 0 && refused === 0) return `No requests in ${periods[unit]}.`;
  const counts = `${countsText(admitted, refused)} in ${periods[unit]}.`;
  if (limit === undefined) return counts;
  const most = Math.max(...chart.admitted);
  const part = Math.round((100 * most) / limit);
  return `${counts} The busiest day used ${part === 0 && most > 0 ? "less than 1" : part.toLocaleString("en")}\u00a0% of the limit of ${limit.toLocaleString("en")} a day.`;
}

function countsText(admitted: number, refused: number): string {
  const units = `${admitted.toLocaleString("en")} ${admitted === 1 ? "unit" : "units"} used`;
  return `${units}, ${refused.toLocaleString("en")} ${refused === 1 ? "request" : "requests"} refused`;
}

function barText({ starts, keys, admitted, refused }: Chart, unit: Unit, index: number): string {
  const ofKeys = keys
    .filter((key) => (key.admitted[index] ?? 0) > 0)
    .map((key) => `${key.label}: ${key.admitted[index]?.toLocaleString("en")}`);
  const parts = ofKeys.length > 1 ? `. Used by ${ofKeys.join("; ")}` : "";
  const soFar = index === starts.length - 1 ? " so far" : "";
  const period = `${periodText(starts[index] ?? "", unit)}${soFar}`;
  return `${period}: ${countsText(admitted[index] ?? 0, refused[index] ?? 0)}${parts}`;
}

/** Hidden from screen readers: they read the summary, the slider and the table. */
function drawing(chart: Chart, unit: Unit, limit: number | undefined, width: number): SVGElement {
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const bottom = height - edges.bottom;
  const totals = chart.admitted.map((admitted, index) => admitted + (chart.refused[index] ?? 0));
  const most = Math.max(...totals);
  const isLimitNear = limit !== undefined && most >= nearLimit * limit;
  const ticks = axisTicks(isLimitNear ? Math.max(most, limit) : most);
  const pixels = (bottom - edges.top) / (ticks.at(-1) ?? 1);
  const slot = (width - edges.left - edges.right) / chart.starts.length;
  svg.append(hatching(unit));

  for (const tick of ticks) {
    const y = bottom - tick * pixels;
    svg.append(
      shape("line", { class: "grid", x1: edges.left, x2: width - edges.right, y1: y, y2: y }),
      shape("text", { class: "label", x: edges.left - 6, y: y + 4, "text-anchor": "end" }, compact(tick)),
    );
  }
  for (const [index, start] of chart.starts.entries()) {
    const x = edges.left + index * slot;
    const column = { class: "column", "data-index": index, x, y: edges.top, width: slot, height: bottom - edges.top };
    svg.append(shape("rect", column));
    const label = tickText(start, unit, width < narrowWidth);
    // The edge would cut a label that has no room before it.
    if (label !== undefined && x < width - widestLabel) {
      svg.append(shape("line", { class: "grid", x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
      svg.append(shape("text", { class: "label", x, y: height - 4 }, label));
    }
    const bar = { x: x + slot * 0.1, width: slot * 0.8 };
    let y = bottom;
    const stack = (count: number, look: { readonly class: string; readonly fill?: string }) => {
      if (count === 0) return;
      const size = Math.max(smallestHeight, count * pixels);
      y -= size;
      svg.append(shape("rect", { ...bar, ...look, y, height: size }));
    };
    for (const [place, key] of chart.keys.entries()) stack(key.admitted[index] ?? 0, { class: `key-${place + 1}` });
    stack(chart.refused[index] ?? 0, { class: "refused", fill: `url(#hatching-${unit})` });
  }
  if (isLimitNear) {
    const y = bottom - limit * pixels;
    const text = `limit ${limit.toLocaleString("en")}`;
    svg.append(
      shape("line", { class: "limit", x1: edges.left, x2: width - edges.right, y1: y, y2: y }),
      shape("text", { class: "label limit-label", x: edges.left + 4, y: y < 24 ? y + 14 : y - 5 }, text),
    );
  }
  return svg;
}

/** The legend: a sample of each colour, and of the pattern of refused requests. */
export function legendOf({ keys }: Chart): readonly HTMLElement[] {
  const sample = (...content: readonly SVGElement[]) => {
    const svg = shape("svg", { width: 14, height: 14, "aria-hidden": "true" });
    svg.append(...content);
    return svg;
  };
  const square = { width: 14, height: 14 };
  return [
    ...keys.map(({ label }, place) =>
      element("li", sample(shape("rect", { ...square, class: `key-${place + 1}` })), label),
    ),
    element(
      "li",
      sample(hatching("legend"), shape("rect", { ...square, class: "refused", fill: "url(#hatching-legend)" })),
      "refused requests, of all keys",
    ),
  ];
}

function hatching(name: string): SVGElement {
  const pattern = shape("pattern", {
    id: `hatching-${name}`,
    width: 5,
    height: 5,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  pattern.append(
    shape("rect", { class: "hatching-ground", width: 5, height: 5 }),
    shape("rect", { class: "hatching-line", width: 2.5, height: 5 }),
  );
  return pattern;
}

/** `1,000`, `15k` or `2.5M`. */
function compact(count: number): string {
  if (count < 10_000) return count.toLocaleString("en");
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 }).format(count);
}

function shape(name: string, attributes: Readonly<Record<string, string | number>>, text = ""): SVGElement {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, `${value}`);
  created.textContent = text;
  return created;
}
