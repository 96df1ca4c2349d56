import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { errorGuide, Problem, problems } from "./problem.js";

it.each([new Error("select secret"), "text", undefined, null, { code: "23505" }])(
  "a problem hides %s behind INTERNAL_ERROR, and keeps it as the cause",
  (thrown) => {
    const problem = Problem.from(thrown);
    expect(problem).toMatchObject({ code: "INTERNAL_ERROR", status: 500, cause: thrown });
    expect(JSON.stringify(problem)).not.toMatch(/secret|23505/);
  },
);

it("errors.md has a row and an anchor for every code, with its status and its meaning", () => {
  const rows = readFileSync(errorGuide, "utf8").match(/^\| \d.*/gm) ?? [];
  expect(rows).toEqual(
    Object.entries(problems).map(([code, { status, meaning }]) =>
      expect.stringContaining(`| ${status} | <a id="${code}" href="#${code}"><code>${code}</code></a> | ${meaning} |`),
    ),
  );
});

it("errors.md names the other cases of RATE_LIMIT_EXCEEDED: the free paths that a key cannot read without end", () => {
  const row = readFileSync(errorGuide, "utf8").match(/^.*id="RATE_LIMIT_EXCEEDED".*$/m)?.[0];
  expect(row).toMatch(/`GET \/usage\/history`, which .* once a second, and `GET \/rate_limit`, 200 times a second\./);
});
