import { createTestDatabase } from "@petstore/harness";
import { describe, expect, it } from "vitest";
import { migrate, problemReference } from "../src/index.js";
import { describeSchema } from "./describe-schema.js";

describe("generated files", () => {
  it("schema.sql shows the result of the migrations", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    await expect(await describeSchema(database.url)).toMatchFileSnapshot("../src/database/migrations/schema.sql");
  });

  it("errors.md lists every code with its status and its meaning", async () => {
    const page = `<!-- Generated from \`packages/core/src/problem.ts\` by \`npm run generate\`. -->
${problemReference()}`;
    await expect(page).toMatchFileSnapshot("../errors.md");
  });
});
