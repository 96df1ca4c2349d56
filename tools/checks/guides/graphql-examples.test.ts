// Compiles the TypeScript of the GraphQL quickstart in strict mode, and runs it as a browser and as a server do.
import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { shared } from "@petstore/harness";
import { openHttpServer } from "@petstore/harness/network";
import { openTemporaryDirectory, repository, startStandaloneStore } from "@petstore/harness/processes";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { graphqlQuickstart, standaloneMain } from "../programs.js";
import { storeThreePages } from "./three-pages.js";

const execute = promisify(execFile);
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const examples = await readExamples();

const store = await shared(startStandaloneStore(standaloneMain));
const database = await shared(openStoreDatabase(store.databaseUrl));
const allNames = await storeThreePages(database);

const strictest = {
  target: "es2023",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  // The types of Apollo Client do not compile with exactOptionalPropertyTypes.
  skipLibCheck: true,
};
const lib = ["es2023", "dom", "dom.asynciterable"];
/** The first as in a project of Vite, without the types of Node. */
const projects = {
  list: { lib, module: "esnext", moduleResolution: "bundler", types: [] },
  create: {
    lib,
    module: "nodenext",
    types: ["node"],
    typeRoots: [fileURLToPath(new URL("node_modules/@types", repository))],
  },
};

const compiled = await shared(compileExamples());

/** The globals of a browser page that the examples use, and none of Node's own, such as `process`. */
const webPlatform = {
  ...{ AbortController, AbortSignal, clearTimeout, crypto, DOMException, fetch, Headers, performance, queueMicrotask },
  ...{ Request, Response, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams },
};

describe.each(["list-with-apollo", "list-with-urql"])("%s in a browser", (name) => {
  it("lists all pages with a key of the scope `read`", async () => {
    const { key } = await database.issueKey({ scope: "read", customLimits: { perMinute: 3, perDay: 1_000 } });
    const { names, logged } = await listInBrowser(name, `${store.origin}/graphql`, key);
    expect(names).toEqual(allNames);
    expect(logged).toEqual([]);
  });

  it("loads only the new pets when it lists again after a create", async () => {
    const bodies: string[] = [];
    await using server = await openProxy((body) => {
      bodies.push(body);
      return forward(body);
    });
    const create = "insert into pets (name, category_id, status) values ('new', 1, 'available') returning id";
    const { names, logged } = await listInBrowser(name, server.url, (await database.issueKey()).key, async (list) => {
      await list();
      expect(await list()).toEqual(allNames);
      const [created] = (await database.execute(create)) as { id: string }[];
      const lists = [await list(), await list()];
      await database.execute(`delete from pets where id = ${created?.id}`);
      return lists;
    });
    expect(names).toEqual(Array(2).fill([...allNames, "new"]));
    expect(logged).toEqual([]);
    // Three pages, and one request for each further call.
    expect(bodies).toHaveLength(3 + 3);
  });

  it("lists nothing and says why, with a key that may not list", async () => {
    const { key } = await database.issueKey({ scope: "write" });
    const { names, logged } = await listInBrowser(name, `${store.origin}/graphql`, key);
    expect(names).toEqual([]);
    expect(logged).toEqual([expect.arrayContaining(["INSUFFICIENT_SCOPE"])]);
  });

  it("returns the pages that it has if the quota is used up, and does not retry before its end", async () => {
    const bodies: string[] = [];
    await using server = await openProxy(async (body, count) => {
      bodies.push(body);
      return count > 1 ? refusal("DAILY_QUOTA_EXCEEDED", 3_600) : forward(body);
    });
    const { names, logged } = await listInBrowser(name, server.url, (await database.issueKey()).key);
    expect(names).toHaveLength(100);
    expect(logged).toEqual([expect.arrayContaining(["DAILY_QUOTA_EXCEEDED"])]);
    expect(bodies).toHaveLength(2);
  });

  it("waits for Retry-After, and then repeats the request", async () => {
    const requestedAtMs: number[] = [];
    await using server = await openProxy(async (body, count) => {
      requestedAtMs.push(performance.now());
      return count === 1 ? refusal("RATE_LIMIT_EXCEEDED", 1) : forward(body);
    });
    const { names, logged } = await listInBrowser(name, server.url, (await database.issueKey()).key);
    expect(names).toHaveLength(250);
    expect(logged).toEqual([]);
    const [refusedAtMs = 0, repeatedAtMs = 0] = requestedAtMs;
    expect(repeatedAtMs - refusedAtMs).toBeGreaterThanOrEqual(1_000);
  });
});

it("the quickstart has these examples", () => {
  const names = ["pet-store", "list-with-apollo", "list-with-urql", "create-with-apollo", "create-with-urql"];
  expect([...examples.keys()]).toEqual(names);
});

it.each(["create-with-apollo", "create-with-urql"])(
  "%s on a server creates one pet, even if it is repeated",
  async (name) => {
    const { key } = await database.issueKey({ scope: "write" });
    await using project = await openProject(`${store.origin}/graphql`, "not used");
    const script = `
    const { createPet } = await import("./${name}.js");
    const input = { name: "Ada", categoryId: "9223372036854775807", status: null };
    const created = [await createPet(input, "${name}"), await createPet(input, "${name}")];
    const refused = await createPet({ ...input, name: "" }).catch((error) => error.message);
    console.log(JSON.stringify([created[0], created[0].id === created[1].id, refused]));`;
    // biome-ignore lint/style/noProcessEnv: the programs of this machine.
    const env = { PATH: process.env.PATH, API_KEY: key };
    const { stdout } = await execute(process.execPath, ["--eval", script, "--input-type=module"], {
      cwd: project.path,
      env,
    });
    const pet = { id: expect.any(String), name: "Ada", categoryId: "9223372036854775807", status: "available" };
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining(pet), true, expect.stringContaining("name must")]);
  },
);

/** The blocks of the quickstart whose first line names their file. */
async function readExamples(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(graphqlQuickstart, "utf8");
  return new Map(
    [...text.matchAll(/^```ts\n\/\/ (\S+)\.ts\n(.*?)^```$/gms)].map(([, name = "", code = ""]) => [name, code]),
  );
}

/** Compiles all examples in a new folder. */
async function compileExamples() {
  const compiled = await openTemporaryDirectory();
  await symlink(modules, join(compiled.path, "node_modules"));
  await writeFile(join(compiled.path, "package.json"), '{ "type": "module" }');
  for (const [name, code] of examples) await writeFile(join(compiled.path, `${name}.ts`), code);
  for (const [prefix, options] of Object.entries(projects)) {
    const files = [...examples.keys()].filter((name) => name.startsWith(prefix)).map((name) => `${name}.ts`);
    const config = { compilerOptions: { ...strictest, ...options }, files };
    await writeFile(join(compiled.path, `${prefix}.json`), JSON.stringify(config));
    await execute(process.execPath, [tsc, "--project", `${prefix}.json`], { cwd: compiled.path }).catch(
      ({ stdout }) => {
        throw new Error(stdout);
      },
    );
  }
  return compiled;
}

/** The compiled examples in a new folder, for this address and this key. */
async function openProject(url: string, key: string) {
  const project = await openTemporaryDirectory();
  await symlink(modules, join(project.path, "node_modules"));
  await writeFile(join(project.path, "package.json"), '{ "type": "module" }');
  for (const name of examples.keys()) {
    const code = await readFile(join(compiled.path, `${name}.js`), "utf8");
    const own = code.replace("http://127.0.0.1:3000/graphql", url).replace("pets_test_...", key);
    await writeFile(join(project.path, `${name}.js`), own);
  }
  return project;
}

type ListNames = () => Promise<string[]>;

/** Bundles the example as Vite does, and uses its function with the globals of a browser. */
async function listInBrowser(
  name: string,
  url: string,
  key: string,
  use: (listNames: ListNames) => Promise<unknown> = (listNames) => listNames(),
) {
  await using project = await openProject(url, key);
  await using build = await rolldown({
    input: join(project.path, `${name}.js`),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
  });
  const { output } = await build.generate({ format: "iife", name: "example" });
  const logged: unknown[][] = [];
  const console = { error: (...words: unknown[]) => logged.push(words) };
  const context = createContext({ ...webPlatform, console });
  const listNames: ListNames = runInContext(`${output[0].code}; example.listNames`, context);
  return { names: await use(listNames), logged };
}

interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A proxy in front of the store. It answers with the result of `answer` for the body of the request and its number. */
function openProxy(answer: (body: string, count: number) => Promise<ProxyAnswer> | ProxyAnswer) {
  let count = 0;
  return openHttpServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    count += 1;
    const answered = await answer(body, count);
    response.writeHead(answered.status, answered.headers).end(answered.body);
  });
}

async function forward(body: string): Promise<ProxyAnswer> {
  const { key } = await database.issueKey();
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };
  const response = await fetch(`${store.origin}/graphql`, { method: "POST", headers, body });
  return { status: response.status, headers: graphqlJson, body: await response.text() };
}

const graphqlJson = { "Content-Type": "application/graphql-response+json" };

function refusal(code: string, retryAfter: number): ProxyAnswer {
  const error = { message: "refused", extensions: { code, status: 429, retryAfter } };
  return {
    status: 429,
    headers: { ...graphqlJson, "Retry-After": `${retryAfter}` },
    body: JSON.stringify({ errors: [error] }),
  };
}
