/**
 * The key a person works with. It is kept for the tab and its session alone, is shared by all pages of this origin, and
 * goes nowhere but into the Authorization header of requests to this origin.
 */
import { byId } from "./elements.js";

const storageKey = "petstore-api-key";

export function apiKey(): string | undefined {
  return sessionStorage.getItem(storageKey) ?? undefined;
}

/** Brings the form of the page to life; `onChange` hears of every key that is entered or forgotten. */
export function openKeyForm(onChange: () => void): void {
  const form = byId("key", HTMLFormElement);
  const input = byId("key-input", HTMLInputElement);
  const forget = byId("key-forget", HTMLButtonElement);
  const state = byId("key-state", HTMLElement);
  const unused = state.textContent ?? "";

  function show(): void {
    const key = apiKey();
    forget.hidden = key === undefined;
    input.value = key ?? "";
    state.textContent = key === undefined ? unused : "In use on every page of this tab, until it is closed.";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (key === "") sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, key);
    show();
    onChange();
  });
  forget.addEventListener("click", () => {
    sessionStorage.removeItem(storageKey);
    show();
    input.focus();
    onChange();
  });
  show();
}
