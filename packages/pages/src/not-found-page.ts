import type { Page } from "./frame.js";
import { html } from "./html.js";

/** A service sends this page, with status 404, to a browser that asks for an unknown path. */
export const notFoundPage: Page = {
  path: "/404",
  title: "Page not found",
  main: html`<h1>Page not found</h1>
<p class="lead">This service has no page at this address.</p>
<p>Check the address for a typing error, or start at the <a href="/">first page</a>. The guides are listed below.</p>`,
};
