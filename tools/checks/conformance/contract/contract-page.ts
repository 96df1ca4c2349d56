import type { Problem, Row, Success } from "./row.js";

const head = `# The contract, row by row

Each row is a promise with the requests that test it, and the response to them. REST, both lists of GraphQL and the typed client
give the same response, except where the column GraphQL has another one. In GraphQL the status and the code are in \`extensions\`.
\`npm run conformance\` sends all requests to running services through each interface, and compares the headers too.
\`npm run generate\` writes this page from [contract/rows](contract/rows).
`;

interface Line {
  readonly promise: string;
  readonly inputs: readonly string[];
  readonly response: string;
  readonly graphql: string;
}

/** The table as Markdown: a section for each subject, with a line for the requests that have the same promise and response. */
export function writeContractPage(subjects: Readonly<Record<string, readonly Row[]>>): string {
  const sections = Object.entries(subjects).map(([subject, rows]) =>
    [
      `\n## ${subject[0]?.toUpperCase()}${subject.slice(1)}\n`,
      "| promise | requests | response | GraphQL |",
      "|---|---|---|---|",
      ...linesOf(rows).map(writeLine),
      "",
    ].join("\n"),
  );
  return head + sections.join("");
}

function linesOf(rows: readonly Row[]): Line[] {
  const lines = new Map<string, Line>();
  for (const { title, expected, graphql } of rows) {
    const [promise = "", ...input] = title.split(": ");
    const response = describeResponse(expected);
    const line = { promise, inputs: [], response, graphql: graphql === undefined ? "" : describeResponse(graphql) };
    const key = JSON.stringify(line);
    const inputs = [...(lines.get(key)?.inputs ?? []), ...(input.length === 0 ? [] : [input.join(": ")])];
    lines.set(key, { ...line, inputs });
  }
  return [...lines.values()];
}

function writeLine({ promise, inputs, response, graphql }: Line): string {
  return `| ${[escapeMarkdown(promise), inputs.map(asCode).join(" "), response, graphql].join(" | ")} |`;
}

function describeResponse(expected: Problem | Success): string {
  if (expected.kind === "success") return expected.created === undefined ? "the pets" : "the new pet";
  return `${expected.status} \`${expected.code}\` ${escapeMarkdown(textOf(expected.message))}`;
}

/** A message, or the part of it that is expected. */
function textOf(message: unknown): string {
  if (typeof message === "string") return message;
  const { sample } = message as { readonly sample: unknown };
  return `... ${sample} ...`;
}

const longestInput = 60;

/** Shows blank and invisible characters, and the beginning of a long input. */
function asCode(input: string): string {
  const text = input.length > longestInput ? `${input.slice(0, longestInput)}...` : input;
  const visible = text.replace(/[\p{C}\p{Z}]/gu, (character) =>
    character === " " ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  const fence = visible.includes("`") ? "``" : "`";
  return `${fence}${visible === "" ? " " : visible.replaceAll("|", "\\|")}${fence}`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|~]/g, "\\$&");
}
