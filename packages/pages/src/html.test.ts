import { describe, expect, it } from "vitest";
import { html, trusted } from "./html.js";

describe("html", () => {
  it("escapes every value that is not markup", () => {
    expect(html`<p title="${`"><script>'&`}">${"<b>"}</p>`.markup).toBe(
      '<p title="&quot;&gt;&lt;script&gt;&#39;&amp;">&lt;b&gt;</p>',
    );
  });

  it("inserts markup unchanged, joins lists, and inserts nothing for undefined", () => {
    expect(html`<ul>${[1, 2].map((n) => html`<li>${n}</li>`)}${undefined}${trusted("<hr>")}</ul>`.markup).toBe(
      "<ul><li>1</li><li>2</li><hr></ul>",
    );
  });
});
