/**
 * The API key of the user. In sessionStorage it lasts as long as the tab, and all pages of this origin can read it. It is
 * sent only in the Authorization header of requests to this origin.
 */
import { byId } from "./elements.js";

const storageKey = "petstore-api-key";

export function apiKey(): string | undefined {
  return sessionStorage.getItem(storageKey) ?? undefined;
}

/** Handles the key form of the page. Calls `onKey` now, and each time the user enters or removes a key. */
export function openKeyForm(onKey: () => void): void {
  const form = byId("key");
  const input = byId("key-input") as HTMLInputElement;
  const forget = byId("key-forget") as HTMLButtonElement;
  const state = byId("key-state");
  const textWithoutKey = state.textContent ?? "";

  function show(): void {
    const key = apiKey();
    // Not hidden: the button would appear below the pointer, and get the second click of a double click.
    forget.disabled = key === undefined;
    input.value = key ?? "";
    state.textContent =
      key === undefined ? textWithoutKey : "All pages in this tab use this key until you close the tab.";
    onKey();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // Documents and tools show the key with its scheme, as in the Authorization header.
    const key = input.value.trim().replace(/^Bearer\s+/i, "");
    if (key === "") sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, key);
    show();
  });
  forget.addEventListener("click", () => {
    sessionStorage.removeItem(storageKey);
    show();
    input.focus();
  });
  // After a step back, the browser may restore a page that shows a key which another page has removed.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) show();
  });
  show();
}
