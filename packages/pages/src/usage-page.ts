import { keyForm, type Page } from "./frame.js";
import { html, type Markup } from "./html.js";

/** The most requests that an account with this plan may send. */
export interface PlanLimits {
  /** As the API has it, such as `free`. */
  readonly plan: string;
  /** Undefined if each account has its own limits. */
  readonly limits: { readonly perMinute: number; readonly perDay: number } | undefined;
}

/**
 * The usage page shows the remaining quota of an account, and its use over time. It reads `GET /rate_limit` and
 * `GET /usage/history`, which cost nothing.
 */
export function usagePage(plans: readonly PlanLimits[]): Page {
  return { path: "/usage", title: "Usage", main: main(plans), styles: ["reference"], module: "usage" };
}

function main(plans: readonly PlanLimits[]): Markup {
  return html`<h1>Usage</h1>
<p class="lead">How many requests your account has left in this minute and on this day, and when each limit resets. All keys of an account share its limits.</p>
${keyForm}
<section aria-labelledby="now-title">
<h2 id="now-title">Now</h2>
<div id="usage-state" role="status"><p class="notice good"><strong>Enter an API key to see its limits.</strong></p></div>
<div class="gauges" id="gauges" hidden>
${gauge("minute", "This minute")}
${gauge("day", "This day")}
</div>
<p id="usage-key"></p>
<p id="usage-plan"></p>
<div class="row" id="refresh-controls" hidden>
<button type="button" id="refresh">Refresh</button> <span id="usage-time"></span>
</div>
<p class="about">This section shows <code>GET /rate_limit</code>. It costs nothing.</p>
</section>
<section aria-labelledby="history-title">
<h2 id="history-title">Over time</h2>
<div id="history-state" role="status"><p>Enter an API key to see what its account has used.</p></div>
<div id="history" hidden>
<ul id="history-legend" class="legend" aria-label="Keys and their colours"></ul>
${chart("hours", "The last 48 hours", "Hour")}
${chart("days", "The last 90 days", "Day")}
</div>
<p class="about">This section shows <code>GET /usage/history</code>. It costs nothing. A REST request uses one unit, and a GraphQL operation <a href="/docs/limits">one for each root field</a>. Hours and days are in UTC. The charts refresh every minute, with numbers that are up to 20 s old. The limit of a day is the present one; an hour has no limit of its own.</p>
</section>
<section aria-labelledby="plans-title">
<h2 id="plans-title">Plans</h2>
<table id="plans"><thead><tr><th scope="col">Plan</th><th scope="col">Requests a minute</th><th scope="col">Requests a day</th></tr></thead><tbody>
${plans.map(planRow)}
</tbody></table>
</section>`;
}

function gauge(window: "minute" | "day", title: string): Markup {
  return html`<div class="gauge" id="gauge-${window}">
<h3 id="gauge-${window}-title">${title}</h3>
<meter aria-labelledby="gauge-${window}-title"></meter>
<p><strong class="left"></strong> <span class="of"></span></p>
<p class="reset"></p>
</div>`;
}

/** `browser/usage-chart.ts` fills it. */
function chart(unit: "hours" | "days", title: string, name: string): Markup {
  return html`<div class="chart" id="history-${unit}">
<h3>${title}</h3>
<p class="summary"></p>
<div class="plot"></div>
<div class="pick"><label for="pick-${unit}">${name}</label><input id="pick-${unit}" type="range" min="0" max="0" value="0"></div>
<p class="picked"></p>
<details><summary>The numbers as a table</summary>
<table><thead><tr><th scope="col">${name} (UTC)</th><th scope="col">Key</th><th scope="col">Used</th><th scope="col">Refused</th></tr></thead><tbody></tbody></table>
</details>
</div>`;
}

function planRow(plan: PlanLimits): Markup {
  const [name, perMinute, perDay] = describePlan(plan);
  return html`<tr data-plan="${plan.plan}"><th scope="row">${name}</th><td>${perMinute}</td><td>${perDay}</td></tr>`;
}

export function describePlan({ plan, limits }: PlanLimits): readonly [name: string, perMinute: string, perDay: string] {
  const name = `${plan.charAt(0).toUpperCase()}${plan.slice(1)}`;
  if (limits === undefined) return [name, "as agreed", "as agreed"];
  return [name, limits.perMinute.toLocaleString("en"), limits.perDay.toLocaleString("en")];
}
