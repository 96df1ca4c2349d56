// Shows the address of this service in the examples of a guide, and adds a copy button to each example.
import { element, within } from "./elements.js";

/** The guides use the address of `npm start`. */
const documentedOrigin = "http://127.0.0.1:3000";
const copiedMs = 2_000;

const guide = within(document, ".guide");
showOwnOrigin(guide);
// Browsers offer the clipboard only to pages from HTTPS or from this machine.
if (navigator.clipboard !== undefined) for (const block of guide.querySelectorAll(".code")) addCopyButton(block);

function showOwnOrigin(article: HTMLElement): void {
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const { currentNode: text } = texts;
    text.nodeValue = text.nodeValue?.replaceAll(documentedOrigin, location.origin) ?? null;
  }
}

function addCopyButton(block: Element): void {
  const code = within(block, "code");
  const button = element("button", "Copy");
  button.addEventListener("click", async () => {
    button.textContent = await navigator.clipboard.writeText(code.textContent ?? "").then(
      () => "Copied",
      () => "Not allowed",
    );
    setTimeout(() => {
      button.textContent = "Copy";
    }, copiedMs);
  });
  block.append(button);
}
