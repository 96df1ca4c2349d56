// Sends what the forms of the reference hold, and shows the answer as it came: status, every header, every digit.
import { apiKey, openKeyForm } from "./api-key.js";
import { element, within } from "./elements.js";
import { headerRows } from "./header-rows.js";
import { indentJson } from "./json-text.js";

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

openKeyForm(() => {});
for (const form of document.querySelectorAll<HTMLFormElement>("form.try")) bringToLife(form);

function bringToLife(form: HTMLFormElement): void {
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
}

async function send(form: HTMLFormElement, fields: readonly Field[], key: string | undefined): Promise<void> {
  const call = callOf(form, fields);
  const answer = within(form, ".answer", HTMLElement);
  const startedAtMs = performance.now();
  form.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(call.url, {
      method: call.method,
      headers: { ...call.headers, ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
      ...(call.body !== undefined && { body: call.body }),
    });
    const text = await response.text();
    const tookMs = Math.round(performance.now() - startedAtMs);
    answer.replaceChildren(
      ...description({ call, hasKey: key !== undefined, response, text, tookMs }),
      ...nextPage(form, fields, response),
    );
  } catch (error) {
    // No answer came: the service is away, or a header cannot be sent. The person who pressed Send reads it here.
    answer.replaceChildren(element("p", "status bad", `No answer: ${error instanceof Error ? error.message : error}`));
  }
  form.removeAttribute("aria-busy");
  answer.hidden = false;
}

function callOf(form: HTMLFormElement, fields: readonly Field[]): Call {
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
  const asked = query.size === 0 ? "" : `?${query}`;
  return { method: form.dataset.method ?? "GET", url: `/v1${path}${asked}`, headers, body };
}

interface Answered {
  readonly call: Call;
  readonly hasKey: boolean;
  readonly response: Response;
  readonly text: string;
  readonly tookMs: number;
}

function description({ call, hasKey, response, text, tookMs }: Answered): HTMLElement[] {
  const { status, statusText, headers, ok } = response;
  const left = `${headers.get("X-RateLimit-Remaining")} of ${headers.get("X-RateLimit-Limit")} requests left`;
  const rows = headerRows(headers);
  return [
    element(
      "p",
      ok ? "status good" : "status bad",
      element("strong", "", `${status} ${statusText}`),
      ` in ${tookMs} ms, ${left}`,
    ),
    element("pre", "body", element("code", "", text === "" ? "(no body)" : indentJson(text))),
    folded(`${rows.length} response headers`, element("table", "headers", element("tbody", "", ...rows))),
    folded("The same with curl", element("pre", "", element("code", "", curl(call, hasKey)))),
  ];
}

function folded(title: string, content: HTMLElement): HTMLElement {
  const details = element("details", "", element("summary", "", title), content);
  details.toggleAttribute("open", content.className === "headers");
  return details;
}

/** A line for a shell; the key stays a variable, so that the line can be passed on. */
function curl({ method, url, headers, body }: Call, hasKey: boolean): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const sent = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [
    "curl -i",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(hasKey ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...sent,
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
    quoted(new URL(url, location.href).href),
  ].join(" \\\n  ");
}

/** A button that follows the link to the next page, when there is one. */
function nextPage(form: HTMLFormElement, fields: readonly Field[], response: Response): HTMLElement[] {
  const target = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  if (target === undefined) return [];
  const { searchParams } = new URL(target, location.href);
  const button = element("button", "", "Next page") as HTMLButtonElement;
  button.type = "button";
  button.addEventListener("click", () => {
    for (const field of fields) if (field.dataset.in === "query") field.value = searchParams.get(field.name) ?? "";
    void send(form, fields, apiKey());
  });
  return [button];
}
