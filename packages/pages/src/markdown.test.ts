import { expect, it } from "vitest";
import { renderMarkdown, replaceLinks } from "./markdown.js";

const render = (markdown: string) =>
  renderMarkdown(markdown, {
    ofLink: (href) => (href === "known.md" ? "/known" : undefined),
    ofCode: (text) => (text === "PET_NOT_FOUND" ? "/errors#PET_NOT_FOUND" : undefined),
  }).markup;

it("leads from an error code to its explanation, but not inside a link or a heading", () => {
  const code = "<code>PET_NOT_FOUND</code>";
  expect(render("404 `PET_NOT_FOUND` or `OTHER`")).toBe(
    `<p>404 <a href="/errors#PET_NOT_FOUND">${code}</a> or <code>OTHER</code></p>\n`,
  );
  expect(render("[a `PET_NOT_FOUND`](known.md)")).toBe(`<p><a href="/known">a ${code}</a></p>\n`);
  expect(render("## `PET_NOT_FOUND`")).toBe(`<h2 id="pet_not_found"><a href="#pet_not_found">${code}</a></h2>\n`);
});

it("shows a link to a file without a page as text", () => {
  expect(render("[a *file*](unknown.ts)")).toBe("<p>a <em>file</em></p>\n");
});

it("replaces the links of a Markdown text, and leaves its images and its code as they are", () => {
  const replace = (markdown: string) =>
    replaceLinks(markdown, (href) => (href === "known.md" ? "/known.md" : undefined));
  const kept = "![An image](image.svg)\n\n    code [0](1)\n\n`[a](b)`\n";
  expect(replace(`See [the \`A\` guide](known.md) and [a *file*](unknown.ts).\n\n${kept}`)).toBe(
    `See [the \`A\` guide](/known.md) and a *file*.\n\n${kept}`,
  );
  expect(replace("| a |\n|---|\n| [one](known.md), [two](unknown.ts) |\n")).toBe(
    "| a |\n|---|\n| [one](/known.md), two |\n",
  );
});

it("puts the sections of a guide below its title, if they are five or more", () => {
  const guide = (sections: number) => {
    const headings = Array.from({ length: sections }, (_, index) => `## Part \`${index + 1}\` <&\n\n### Detail`);
    return render(`# Title\n\nFirst.\n\n${headings.join("\n\n")}`);
  };
  const title = '<h1 id="title">Title</h1>\n';
  const link = (part: number) => `<li><a href="#part-${part}-">Part <code>${part}</code> &lt;&amp;</a></li>`;
  const contents = `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${[1, 2, 3, 4, 5].map(link).join("")}</ul></nav>\n`;
  expect(guide(5)).toContain(`${title}${contents}<p>First.</p>`);
  expect(guide(4)).toContain(`${title}<p>First.</p>`);
});
