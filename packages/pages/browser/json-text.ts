/** Returns `undefined` if the text is not JSON, as in a response of a proxy. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Indents JSON and keeps every digit; `JSON.stringify` would round integers above 2^53. Other text stays unchanged. */
export function indentJson(text: string): string {
  if (parseJson(text) === undefined) return text;
  let depth = 0;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let indented = "";
  tokens.forEach((token, index) => {
    const isEmpty = /^[}\]]$/.test(tokens[index + 1] ?? "");
    if (/^[{[]$/.test(token)) indented += isEmpty ? token : `${token}${line(++depth)}`;
    else if (/^[}\]]$/.test(token)) indented += /[{[]$/.test(indented) ? token : `${line(--depth)}${token}`;
    else if (token === ",") indented += `,${line(depth)}`;
    else indented += token === ":" ? ": " : token;
  });
  return indented;
}

function line(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}
