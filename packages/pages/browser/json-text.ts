/**
 * Indents JSON without reading its numbers: `JSON.parse` would round every identifier beyond 2^53. Text that is not
 * JSON comes back with other white space at most.
 */
export function indentJson(text: string): string {
  let depth = 0;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let written = "";
  tokens.forEach((token, index) => {
    const isEmpty = /^[}\]]$/.test(tokens[index + 1] ?? "");
    if (/^[{[]$/.test(token)) written += isEmpty ? token : `${token}${line(++depth)}`;
    else if (/^[}\]]$/.test(token)) written += /[{[]$/.test(written) ? token : `${line(--depth)}${token}`;
    else if (token === ",") written += `,${line(depth)}`;
    else written += token === ":" ? ": " : token;
  });
  return written;
}

function line(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}
