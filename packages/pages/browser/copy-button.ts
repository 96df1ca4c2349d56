import { element } from "./elements.js";

const copiedMs = 2_000;

/**
 * A button that copies the current text. Undefined where the browser offers no clipboard: it does only for pages from HTTPS or
 * from this machine.
 */
export function copyButton(text: () => string): HTMLElement | undefined {
  if (navigator.clipboard === undefined) return undefined;
  const button = element("button", "Copy");
  button.setAttribute("type", "button");
  button.className = "copy";
  button.addEventListener("click", async () => {
    button.textContent = await navigator.clipboard.writeText(text()).then(
      () => "Copied",
      () => "Not allowed",
    );
    setTimeout(() => {
      button.textContent = "Copy";
    }, copiedMs);
  });
  return button;
}
