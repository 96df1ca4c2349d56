/**
 * Indents JSON without parsing its numbers, because `JSON.parse` rounds integers above 2^53. In text that is not JSON it
 * changes only white space.
 */
export function indentJson(text: string): string {
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
