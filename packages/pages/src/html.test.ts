import { expect, it } from "vitest";
import { html } from "./html.js";

it("escapes every value that is not markup", () => {
  expect(html`<p title="${`"><script>'&`}">${"<b>"}</p>`.markup).toBe(
    '<p title="&quot;&gt;&lt;script&gt;&#39;&amp;">&lt;b&gt;</p>',
  );
});
