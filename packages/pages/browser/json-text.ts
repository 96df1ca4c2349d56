/** Returns `undefined` if the text is not JSON, as in a response of a proxy. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Begins a string that stands for a number. The service never sends this character. */
const numberMark = "\u0001";

/** Indents JSON and keeps every digit; `JSON.parse` would round integers above 2^53. Other text stays unchanged. */
export function indentJson(text: string): string {
  if (parseJson(text) === undefined) return text;
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(numberMark + token),
  );
  const indented = JSON.stringify(JSON.parse(marked), undefined, 2);
  return indented.replace(/"\\u0001([^"]*)"/g, "$1");
}

interface JsonToken {
  readonly kind: "name" | "string" | "number" | "literal" | "other";
  readonly text: string;
}

/** The parts of a JSON text, for colours. Together they are the text, also if it is not JSON. */
export function jsonTokens(text: string): readonly JsonToken[] {
  const tokens: JsonToken[] = [];
  let end = 0;
  for (const { 0: token, 1: name, 2: string, 3: number, index } of text.matchAll(jsonToken)) {
    if (index > end) tokens.push({ kind: "other", text: text.slice(end, index) });
    end = index + token.length;
    const valueKind = string === undefined ? (number === undefined ? "literal" : "number") : "string";
    tokens.push({ kind: name === undefined ? valueKind : "name", text: token });
  }
  if (end < text.length) tokens.push({ kind: "other", text: text.slice(end) });
  return tokens;
}

/** A string before a colon is a name. */
const jsonToken = /("(?:[^"\\]|\\.)*"(?=\s*:))|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|\b(?:true|false|null)\b/g;
