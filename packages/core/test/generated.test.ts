import { createTestDatabase } from "@petstore/testing";
import { describe, expect, it } from "vitest";
import { describeSettings } from "../src/config/read-config.js";
import { migrate, problemReference } from "../src/index.js";
import { describeSchema } from "./describe-schema.js";

describe("generated files", () => {
  it("schema.sql shows what the migrations make", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    await expect(await describeSchema(database.url)).toMatchFileSnapshot("../src/database/schema.sql");
  });

  it(".env.example names every variable, what it is for and its default", async () => {
    const settings = describeSettings().map(({ name, description, isRequired, isSecret, defaultText }) => {
      const file = isSecret ? `\nOr ${name}_FILE: the name of a file that holds it.` : "";
      const comment = `${description}${file}`.replace(/^/gm, "# ");
      return `${comment}\n${isRequired ? "" : "#"}${name}=${defaultText}`;
    });
    const page = `# Generated from \`packages/core/src/config/read-config.ts\` by \`npm run generate\`.
# What has a # before its name may be left out; the value shown is the default.

${settings.join("\n\n")}
`;
    await expect(page).toMatchFileSnapshot("../.env.example");
  });

  it("errors.md lists every code with its status and its meaning", async () => {
    const page = `<!-- Generated from \`packages/core/src/problem.ts\` by \`npm run generate\`. -->
${problemReference()}`;
    await expect(page).toMatchFileSnapshot("../errors.md");
  });
});
