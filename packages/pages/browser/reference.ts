// The forms of the reference page: each one shows its request as code, sends it, and shows the whole response.
import { apiKey, openKeyForm } from "./api-key.js";
import { codePanel, codeTabs, setCode } from "./code-tabs.js";
import { copyButton } from "./copy-button.js";
import { codeLink, element, headersTable, remainingText, within } from "./elements.js";
import { indentJson, jsonTokens, parseJson } from "./json-text.js";
import { type SampleRequest, sampleLanguages } from "./samples.js";

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

openKeyForm(() => {});
for (const form of document.querySelectorAll<HTMLFormElement>("form.try")) handleForm(form);

function handleForm(form: HTMLFormElement): void {
  const fields = [...form.querySelectorAll<Field>("[data-in]")];
  const showSamples = addSamples(form, fields);
  addCopyButton(form);
  form.addEventListener("input", showSamples);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form, fields, apiKey());
  });
  for (const button of form.querySelectorAll<HTMLButtonElement>("[data-fill]")) {
    button.addEventListener("click", () => {
      const fill = JSON.parse(button.dataset.fill ?? "{}") as Record<string, string>;
      for (const field of fields) field.value = fill[field.name] ?? "";
      showSamples();
      void send(form, fields, button.dataset.withoutKey === undefined ? apiKey() : undefined);
    });
  }
  const nextPage = within(form, ".answer > button");
  nextPage.addEventListener("click", () => {
    const { searchParams } = new URL(nextPage.dataset.address ?? "", location.href);
    for (const field of fields) if (field.dataset.in === "query") field.value = searchParams.get(field.name) ?? "";
    showSamples();
    void send(form, fields, apiKey());
  });
}

/** Returns the function that writes the samples of the current values. */
function addSamples(form: HTMLFormElement, fields: readonly Field[]): () => void {
  const holder = within(form, ".samples");
  const tabs = sampleLanguages.map(({ name, title }) => ({ language: name, title, panel: codePanel() }));
  const operation = form.dataset.operation ?? "";
  holder.replaceChildren(codeTabs(`${operation}-sample`, `Languages of the request ${operation}`, tabs));

  function show(): void {
    const request = readRequest(form, fields);
    for (const [index, { write }] of sampleLanguages.entries()) {
      const panel = tabs[index]?.panel;
      if (panel !== undefined) setCode(panel, write(request));
    }
  }

  show();
  return show;
}

function addCopyButton(form: HTMLFormElement): void {
  const body = within(form, ".answer .body");
  const copy = copyButton(() => body.textContent ?? "");
  if (copy !== undefined) within(form, ".answer .bar").append(copy);
}

async function send(form: HTMLFormElement, fields: readonly Field[], key: string | undefined): Promise<void> {
  // A double click must not add two pets, and an older response must not replace a newer one.
  if (form.hasAttribute("aria-busy")) return;
  const request = readRequest(form, fields);
  // Screen readers announce the status, but not the long answer.
  const state = within(form, ".status");
  const output = within(form, ".answer");
  const startedAtMs = performance.now();
  form.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: { ...request.headers, ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
      ...(request.body !== undefined && { body: request.body }),
    });
    const text = await response.text();
    const tookMs = Math.round(performance.now() - startedAtMs);
    const { status, statusText, headers, ok } = response;
    state.className = ok || status === 304 ? "status good" : "status bad";
    const line = [element("strong", `${status} ${statusText}`), ` in ${tookMs} ms, ${remainingText(response)}`];
    const { code } = (parseJson(text) ?? {}) as { readonly code?: unknown };
    state.replaceChildren(...line, ...(typeof code === "string" ? [": ", codeLink(code)] : []));
    within(output, ".body").replaceChildren(...coloured(text === "" ? "(no body)" : indentJson(text)));
    within(output, "table").replaceWith(headersTable(headers));
    const nextPage = within(output, ":scope > button");
    nextPage.dataset.address = /<([^>]+)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? "";
    nextPage.hidden = nextPage.dataset.address === "";
    output.hidden = false;
  } catch (error) {
    // The service is unavailable, or a header value is invalid. Show the error to the user.
    state.className = "status bad";
    state.textContent = `No response: ${error instanceof Error ? error.message : error}`;
    output.hidden = true;
  }
  form.removeAttribute("aria-busy");
}

function coloured(json: string): readonly (string | Node)[] {
  return jsonTokens(json).map(({ kind, text }) => {
    if (kind === "other") return text;
    const token = element("span", text);
    token.className = `json-${kind}`;
    return token;
  });
}

/** The request that the form describes. Empty fields are left out. */
function readRequest(form: HTMLFormElement, fields: readonly Field[]): SampleRequest {
  const query = new URLSearchParams();
  const values: Record<string, string> = {};
  const headers: Record<string, string> = {};
  let path = form.dataset.path ?? "";
  let body: string | undefined;
  for (const field of fields) {
    const { name, dataset } = field;
    // Half of a surrogate pair has no UTF-8.
    const value = field.value.replace(/\p{Surrogate}/gu, "\u{FFFD}");
    if (dataset.in === "path") path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (dataset.in === "query" && value !== "") query.set(name, value);
    // HTTP removes blanks around the value of a header.
    else if (dataset.in === "header" && value.trim() !== "") headers[name] = value.trim();
    else if (dataset.in === "body") body = value;
    if (/^(path|query)$/.test(dataset.in ?? "") && value !== "") values[name] = value;
  }
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const search = query.size === 0 ? "" : `?${query}`;
  const url = new URL(`${path}${search}`, location.origin).href;
  const { operation = "", method = "GET" } = form.dataset;
  return { operation, method, baseUrl: `${location.origin}/v1`, url, values, headers, body };
}
