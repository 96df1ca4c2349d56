// Rules for the guides to the REST API and for the README of the client. Other tests run their examples.
import { readFile } from "node:fs/promises";
import { repository } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";

const guides = ["quickstart", "limits", "rehearsal", "get-pet-removal"].map((name) => `services/rest/docs/${name}.md`);

describe.each([...guides, "packages/client/README.md"])("%s", (path) => {
  it("names the file of each program in JavaScript or TypeScript in its first line", async () => {
    const programs = [...(await read(path)).matchAll(/^```[jt]s\n(.*)\n/gm)].map(([, first]) => first);
    for (const first of programs) expect(first).toMatch(/^\/\/ [\w-]+\.(mjs|ts)$/);
  });

  it("sets the address of the store in BASE_URL, and nowhere else, because a store can have another one", async () => {
    const lines = (await read(path)).split("\n").filter((line) => line.includes("127.0.0.1:3000"));
    // A header of a response is output.
    for (const line of lines) expect(line).toMatch(/^( {4}export (BASE_URL|GRAPHQL_URL)=|Link: )/);
  });
});

it("each part of the quickstart that repeats a create says how its response is marked", async () => {
  const text = await read("services/rest/docs/quickstart.md");
  for (const title of ["curl", "Every page, in a shell", "Every page, in Python"]) {
    const [section] = text.split(`\n## ${title}\n`)[1]?.split("\n## ") ?? [];
    expect(section, title).toContain("`Idempotency-Replayed: true`");
  }
});

it("the README of the client names what costs nothing: /rate_limit and /usage/history", async () => {
  const [, quota = ""] = (await read("packages/client/README.md")).split("\n## Quota\n");
  for (const path of ["`/rate_limit`", "`/usage/history`"]) expect(quota.split("\n## ")[0]).toContain(path);
});

function read(path: string): Promise<string> {
  return readFile(new URL(path, repository), "utf8");
}
