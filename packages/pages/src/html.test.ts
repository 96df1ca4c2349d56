import { expect, it } from "vitest";
import { html } from "./html.js";

it("escapes every value that is not markup", () => {
  expect(html`<p title="${`"><script>'&`}">${"<b>"}</p>`.markup).toBe(
    '<p title="&#34;&#62;&#60;script&#62;&#39;&#38;">&#60;b&#62;</p>',
  );
});
