// Sends the requests of the forms on the reference page, and shows the status, all headers and the exact body.
import { apiKey, openKeyForm } from "./api-key.js";
import { element, headersTable, remainingText, within } from "./elements.js";
import { indentJson } from "./json-text.js";

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface FormRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

openKeyForm(() => {});
for (const form of document.querySelectorAll<HTMLFormElement>("form.try")) handleForm(form);

function handleForm(form: HTMLFormElement): void {
  const fields = [...form.querySelectorAll<Field>("[data-in]")];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form, fields, apiKey());
  });
  for (const button of form.querySelectorAll<HTMLButtonElement>("[data-fill]")) {
    button.addEventListener("click", () => {
      const fill = JSON.parse(button.dataset.fill ?? "{}") as Record<string, string>;
      for (const field of fields) field.value = fill[field.name] ?? "";
      void send(form, fields, button.dataset.withoutKey === undefined ? apiKey() : undefined);
    });
  }
  const nextPage = within(form, ".answer button");
  nextPage.addEventListener("click", () => {
    const { searchParams } = new URL(nextPage.dataset.address ?? "", location.href);
    for (const field of fields) if (field.dataset.in === "query") field.value = searchParams.get(field.name) ?? "";
    void send(form, fields, apiKey());
  });
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
    state.className = ok ? "status good" : "status bad";
    state.replaceChildren(element("strong", `${status} ${statusText}`), ` in ${tookMs} ms, ${remainingText(response)}`);
    within(output, ".body").textContent = text === "" ? "(no body)" : indentJson(text);
    within(output, "table").replaceWith(headersTable(headers));
    within(output, ".curl").textContent = curlCommand(request, key);
    const nextPage = within(output, "button");
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

function readRequest(form: HTMLFormElement, fields: readonly Field[]): FormRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let path = form.dataset.path ?? "";
  let body: string | undefined;
  for (const { name, value, dataset } of fields) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (dataset.in === "body") body = value;
    else if (value !== "" && dataset.in === "query") query.set(name, value);
    else if (value !== "") headers[name] = value;
  }
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const search = query.size === 0 ? "" : `?${query}`;
  return { method: form.dataset.method ?? "GET", url: `/v1${path}${search}`, headers, body };
}

/** The command has a variable for the key, so the user can share it. */
function curlCommand({ method, url, headers, body }: FormRequest, key: string | undefined): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    "curl -i",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(key === undefined ? [] : ['-H "Authorization: Bearer $API_KEY"']),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
    quote(new URL(url, location.href).href),
  ].join(" \\\n  ");
}
