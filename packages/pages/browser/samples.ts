/**
 * One request in four languages, with every value as the user has entered it. A sample runs as it is, with the API key in the
 * environment variable API_KEY, and never contains a key.
 */
import { jsonTokens, parseJson } from "./json-text.js";

export interface SampleRequest {
  /** The `operationId` in the OpenAPI document. */
  readonly operation: string;
  readonly method: string;
  /** The base address of the API, which ends in `/v1`. */
  readonly baseUrl: string;
  /** The whole address, percent-encoded. */
  readonly url: string;
  /** The values of the path and of the query that are not empty, by name. */
  readonly values: Readonly<Record<string, string>>;
  /** The headers that are not empty, without the API key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface SampleLanguage {
  readonly name: string;
  readonly title: string;
  write(request: SampleRequest): string;
}

export const sampleLanguages: readonly SampleLanguage[] = [
  { name: "curl", title: "curl", write: curlSample },
  { name: "client", title: "Our client", write: clientSample },
  { name: "fetch", title: "fetch", write: fetchSample },
  { name: "python", title: "Python", write: pythonSample },
];

function curlSample({ method, url, headers, body }: SampleRequest): string {
  return [
    "curl -i",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $API_KEY"',
    ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    // `-d` would read a file if the body began with @.
    ...(body === undefined ? [] : [`--data-raw ${shellWord(body)}`]),
    shellWord(url),
  ].join(" \\\n  ");
}

function fetchSample({ method, url, headers, body }: SampleRequest): string {
  return [
    `const response = await fetch(${quoted(url)}, {`,
    ...(method === "GET" ? [] : [`  method: ${quoted(method)},`]),
    "  headers: {",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample contains a template.
    "    Authorization: `Bearer ${process.env.API_KEY}`,",
    ...Object.entries(headers).map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`),
    "  },",
    ...(body === undefined ? [] : [`  body: ${javaScriptBlock(body)},`]),
    "});",
    "// response.json() would round integers above 2^53.",
    "console.log(response.status, await response.text());",
  ].join("\n");
}

function pythonSample({ method, url, headers, body }: SampleRequest): string {
  return [
    "import os",
    "from urllib.error import HTTPError",
    "from urllib.request import Request, urlopen",
    "",
    "request = Request(",
    `    ${quoted(url)},`,
    ...(method === "GET" ? [] : [`    method=${quoted(method)},`]),
    "    headers={",
    '        "Authorization": "Bearer " + os.environ["API_KEY"],',
    ...Object.entries(headers).map(([name, value]) => `        ${quoted(name)}: ${quoted(value)},`),
    "    },",
    ...(body === undefined ? [] : [`    data=${pythonBlock(body)}.encode(),`]),
    ")",
    "try:",
    "    response = urlopen(request)",
    "except HTTPError as error:",
    "    response = error",
    "# json.loads keeps every digit of this text.",
    "print(response.status, response.read().decode())",
  ].join("\n");
}

function clientSample(request: SampleRequest): string {
  const { baseUrl, headers } = request;
  const call = clientCall(request);
  if (call === undefined) {
    return "// The client has no call for this request. It reads what is left\n// from the headers of every response.";
  }
  if (call === "invalid") return "// The client sends only a valid new pet, and this body is not one.";
  const notSent = Object.keys(headers).filter((name) => !["Content-Type", "Idempotency-Key"].includes(name));
  return [
    'import { createPetStoreClient } from "@petstore/client";',
    "",
    "const { pets } = createPetStoreClient({",
    `  baseUrl: ${quoted(baseUrl)},`,
    "  apiKey: process.env.API_KEY,",
    "});",
    ...(notSent.length === 0 ? [] : [`// The client does not send ${notSent.join(" and ")}.`]),
    ...call,
  ].join("\n");
}

/** Undefined if the client has no such call. */
function clientCall({ operation, values, headers, body }: SampleRequest): readonly string[] | "invalid" | undefined {
  switch (operation) {
    case "listPets": {
      const options = Object.entries(values).map(([name, value]) => {
        return `${name}: ${name === "limit" ? integer(value) : quoted(value)}`;
      });
      return [
        `const page = await pets.list(${options.length === 0 ? "" : `{ ${options.join(", ")} }`});`,
        // Alone: a second argument would replace a %s in a name.
        "console.log(JSON.stringify(page.pets));",
        'if (page.nextCursor !== undefined) console.log("next page:", page.nextCursor);',
      ];
    }
    case "createPet": {
      const newPet = newPetLiteral(body ?? "");
      if (newPet === undefined) return "invalid";
      const key = headers["Idempotency-Key"];
      const options = key === undefined ? "" : `, {\n  idempotencyKey: ${quoted(key)},\n}`;
      return [`const pet = await pets.create(${newPet}${options});`, "console.log(JSON.stringify(pet));"];
    }
    case "getPet":
      return [`const pet = await pets.get(${integer(values.petId ?? "")});`, "console.log(JSON.stringify(pet));"];
    default:
      return undefined;
  }
}

/** The new pet as an object of JavaScript. Undefined if the text is not the JSON of a new pet. */
function newPetLiteral(text: string): string | undefined {
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
  const { name, categoryId, status, ...others } = parsed as Readonly<Record<string, unknown>>;
  // `JSON.parse` has rounded the number, so the digits come from the text. A valid body has no other number.
  const [digits, ...otherNumbers] = numbersOf(text);
  const isStatus = status === undefined || status === "available" || status === "pending" || status === "sold";
  if (typeof name !== "string" || typeof categoryId !== "number" || !isStatus) return undefined;
  if (digits === undefined || otherNumbers.length > 0 || Object.keys(others).length > 0) return undefined;
  if (!integerText.test(digits)) return undefined;
  const fields = [`name: ${quoted(name)}`, `categoryId: ${integer(digits)}`];
  if (status !== undefined) fields.push(`status: ${quoted(status)}`);
  return `{\n${fields.map((field) => `  ${field},\n`).join("")}}`;
}

/** The numbers in the text of JSON, digit by digit. */
function numbersOf(text: string): readonly string[] {
  return jsonTokens(text)
    .filter(({ kind }) => kind === "number")
    .map((token) => token.text);
}

const integerText = /^(0|-?[1-9]\d*)$/;

/** A number of JavaScript if it is exact, else a bigint. Text that is no integer stays text: the service refuses it. */
function integer(text: string): string {
  if (!integerText.test(text)) return quoted(text);
  return Number.isSafeInteger(Number(text)) ? text : `${text}n`;
}

/** A string of JSON has the same meaning in JavaScript and in Python. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** In single quotes a shell changes nothing. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A template of JavaScript, which shows the lines of the text as lines. */
export function javaScriptBlock(text: string): string {
  return `\`${text.replace(/[\\`]|\$(?=\{)/g, "\\$&").replace(controls, hexEscape)}\``;
}

/** A triple-quoted string of Python. Only a quote at the end, or before two others, would end it. */
export function pythonBlock(text: string): string {
  return `"""${text.replace(/\\|"(?=""|$)/g, "\\$&").replace(controls, hexEscape)}"""`;
}

/** The control characters except tabs and line feeds. Both languages would read a carriage return as a line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for.
const controls = /[\u0000-\u0008\u000B-\u001F\u007F]/g;

function hexEscape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
