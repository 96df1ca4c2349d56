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
