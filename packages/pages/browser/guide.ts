// Shows the address of this service in the examples of a guide, with a copy button for each, and with tabs where several
// languages show the same call.
import { type CodeTab, codeTabs } from "./code-tabs.js";
import { copyButton } from "./copy-button.js";
import { element, within } from "./elements.js";

/** The guides use the address of `npm start`. */
const documentedOrigin = "http://127.0.0.1:3000";
/** The languages in which the guides show the same call, by the name after the fence. */
const sameCallLanguages: Readonly<Record<string, string>> = { sh: "curl", js: "fetch", py: "python" };
const titles: Readonly<Record<string, string>> = { curl: "curl", fetch: "fetch", python: "Python" };
/** What the bar of a block says, by the name after the fence. Commands and responses without a name have no label. */
const languageNames: Readonly<Record<string, string>> = {
  graphql: "GraphQL",
  js: "JavaScript",
  json: "JSON",
  py: "Python",
  sh: "Shell",
  ts: "TypeScript",
};

const guide = within(document, ".guide");
showOwnOrigin(guide);
const blocks = [...guide.querySelectorAll<HTMLElement>(".code")];
for (const [index, group] of groupsOf(blocks).entries()) {
  if (group.length > 1) showAsTabs(`call-${index}`, group);
  else for (const block of group) addBar(block);
}

function showOwnOrigin(article: HTMLElement): void {
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const { currentNode: text } = texts;
    text.nodeValue = text.nodeValue?.replaceAll(documentedOrigin, location.origin) ?? null;
  }
}

/** Blocks that follow each other without text between them, in different languages, show the same call. */
function groupsOf(all: readonly HTMLElement[]): readonly (readonly HTMLElement[])[] {
  const groups: HTMLElement[][] = [];
  for (const block of all) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    const isSameCall = languageOf(block) !== undefined && before !== undefined && languageOf(before) !== undefined;
    const isNew = group?.every((other) => languageOf(other) !== languageOf(block));
    if (isSameCall && isNew && block.previousElementSibling === before) group?.push(block);
    else groups.push([block]);
  }
  return groups;
}

function languageOf({ dataset }: HTMLElement): string | undefined {
  return sameCallLanguages[dataset.language ?? ""];
}

function showAsTabs(id: string, group: readonly HTMLElement[]): void {
  const [first, ...others] = group;
  const tabs = group.map((block): CodeTab => {
    const language = languageOf(block) ?? "";
    return { language, title: titles[language] ?? language, panel: within(block, "pre") };
  });
  first?.replaceWith(codeTabs(id, "The same call", tabs));
  for (const block of others) block.remove();
}

function addBar(block: HTMLElement): void {
  const copy = copyButton(() => within(block, "code").textContent ?? "");
  if (copy === undefined) return;
  const name = element("span", languageNames[block.dataset.language ?? ""] ?? "");
  const bar = element("div", name, copy);
  bar.className = "bar";
  block.prepend(bar);
}
