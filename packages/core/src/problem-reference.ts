import { problems } from "./problem.js";

/** The table of errors for people, in Markdown: the file `packages/core/errors.md` and a page of each API. */
export function problemReference(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`,
  );
  return `# Error codes

Every error body of the REST API is \`{"code", "message", "status"}\`; the GraphQL API has \`code\` and \`status\` in an
error's \`extensions\`. Programs should decide by \`code\`: messages may change.

| status | code | meaning |
|---|---|---|
${rows.join("\n")}
`;
}
