/**
 * The same code in several languages, with a tab for each. The language that the user has chosen last is shown everywhere: on
 * this page and on later ones. The keys are those of the tabs pattern of WAI-ARIA: arrows, Home and End.
 */
import { copyButton } from "./copy-button.js";
import { element, within } from "./elements.js";

export interface CodeTab {
  readonly language: string;
  readonly title: string;
  /** A `pre` element with the code. */
  readonly panel: HTMLElement;
}

const storageKey = "petstore-code-language";
const chosenEvent = "code-language-chosen";

/** `id` is unique on the page, and `label` says what the code is. */
export function codeTabs(id: string, label: string, all: readonly CodeTab[]): HTMLElement {
  const tabs = all.map(({ language, title, panel }, index) => {
    const tab = element("button", title);
    setAttributes(tab, {
      type: "button",
      role: "tab",
      id: `${id}-${language}`,
      "aria-controls": `${id}-${language}-code`,
    });
    panel.id = `${id}-${language}-code`;
    // The keyboard can scroll a long line only if the block can get the focus.
    setAttributes(panel, { role: "tabpanel", tabindex: "0", "aria-labelledby": tab.id });
    tab.addEventListener("click", () => choose(language));
    tab.addEventListener("keydown", (event) => {
      const target = targetOf(event.key, index, all.length);
      const next = all[target ?? -1];
      if (next === undefined) return;
      event.preventDefault();
      choose(next.language);
      tabs[target ?? -1]?.focus();
    });
    return tab;
  });

  function show(language: string | null): void {
    const known = all.some((tab) => tab.language === language);
    for (const [index, tab] of all.entries()) {
      const isShown = known ? tab.language === language : index === 0;
      tab.panel.hidden = !isShown;
      setAttributes(tabs[index], { "aria-selected": `${isShown}`, tabindex: isShown ? "0" : "-1" });
    }
  }

  const list = element("div", ...tabs);
  setAttributes(list, { role: "tablist", "aria-label": label });
  const shownCode = () => all.find(({ panel }) => !panel.hidden)?.panel;
  const copy = copyButton(() => shownCode()?.textContent ?? "");
  const bar = element("div", list, ...(copy === undefined ? [] : [copy]));
  bar.className = "bar";
  const block = element("div", bar, ...all.map(({ panel }) => panel));
  block.className = "code tabbed";
  document.addEventListener(chosenEvent, () => show(localStorage.getItem(storageKey)));
  show(localStorage.getItem(storageKey));
  return block;
}

/** The panel of a language, for the code in it. */
export function codePanel(code = ""): HTMLElement {
  return element("pre", element("code", code));
}

export function setCode(panel: HTMLElement, code: string): void {
  within(panel, "code").textContent = code;
}

function choose(language: string): void {
  localStorage.setItem(storageKey, language);
  document.dispatchEvent(new Event(chosenEvent));
}

/** The tab that a key leads to. Undefined for any other key. */
function targetOf(key: string, index: number, count: number): number | undefined {
  switch (key) {
    case "ArrowRight":
      return (index + 1) % count;
    case "ArrowLeft":
      return (index + count - 1) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

function setAttributes(target: Element | undefined, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) target?.setAttribute(name, value);
}
