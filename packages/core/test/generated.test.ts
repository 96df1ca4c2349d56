import { createTestDatabase } from "@petstore/harness";
import { describe, expect, it } from "vitest";
import { settings } from "../src/config/read-config.js";
import { migrate, problemReference } from "../src/index.js";
import { describeSchema } from "./describe-schema.js";

describe("generated files", () => {
  it("schema.sql shows the result of the migrations", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    await expect(await describeSchema(database.url)).toMatchFileSnapshot("../src/database/schema.sql");
  });

  it(".env.example describes every variable and its default", async () => {
    const descriptions = Object.entries(settings).map(([name, setting]) => {
      const { description, isSecret } = setting.meta() ?? {};
      const file = isSecret === true ? `\nOr ${name}_FILE: the name of a file that holds it.` : "";
      const comment = `${description}${file}`.replace(/^/gm, "# ");
      const absent = setting.safeParse(undefined);
      return `${comment}\n${absent.success ? "#" : ""}${name}=${absent.data ?? ""}`;
    });
    const page = `# Generated from \`packages/core/src/config/read-config.ts\` by \`npm run generate\`.
# A variable with a # before its name may be left out; the value shown is its default.

${descriptions.join("\n\n")}
`;
    await expect(page).toMatchFileSnapshot("../.env.example");
  });

  it("errors.md lists every code with its status and its meaning", async () => {
    const page = `<!-- Generated from \`packages/core/src/problem.ts\` by \`npm run generate\`. -->
${problemReference()}`;
    await expect(page).toMatchFileSnapshot("../errors.md");
  });
});
