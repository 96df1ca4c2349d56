import { createTestDatabase } from "@petstore/testing";
import { describe, expect, it } from "vitest";
import { migrate, problems } from "../src/index.js";
import { describeSchema } from "./describe-schema.js";

describe("generated files", () => {
  it("schema.sql shows what the migrations make", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    await expect(await describeSchema(database.url)).toMatchFileSnapshot("../src/database/schema.sql");
  });

  it("errors.md lists every code with its status and its meaning", async () => {
    const rows = Object.entries(problems).map(
      ([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`,
    );
    const page = `# Error codes

Generated from \`packages/core/src/problem.ts\` by \`npm run generate\`.

Every error body of the REST door is \`{"code", "message", "status"}\`. Programs should decide by \`code\`: messages may change.

| status | code | meaning |
|---|---|---|
${rows.join("\n")}
`;
    await expect(page).toMatchFileSnapshot("../errors.md");
  });
});
