// What a reader reads to follow one request. The coverage of running services decides which files it executes.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { repository } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { openRunningStore, type ServiceName } from "../conformance/running-store.js";

interface ExecutedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly lines: number;
  /** The names of the functions that the request calls. Some have none. */
  readonly functions: readonly string[];
}

const contributing = "CONTRIBUTING.md";
const createBody = JSON.stringify({
  query: "mutation ($input: NewPet!) { createPet(input: $input) { id name categoryId status } }",
  variables: { input: { name: "Rex", categoryId: "9007199254740993" } },
});
/** Each page of a list then links to the next page. */
const addPets =
  "insert into pets (name, category_id, status) select 'Rex', n, 'available' from generate_series(1, 101) n";
/** These fill the caches and open the connections to PostgreSQL and Redis. */
const warmUpRequests = 20;
/** A function counts if every run calls it. A timer of the service does not run in each of them. */
const runs = 12;
/** As an operator would start a service, except for limits that a slow machine could reach. */
const environment = { LOG_LEVEL: "info", TRUST_PROXY: "", SHED_EVENT_LOOP_DELAY_MS: "60000" };

// Without Redis, a request executes other files.
describeWithRedis("the files that a request executes", async () => {
  const list = await executedFiles("rest", "GET", (number) => `/v1/pets?limit=${number + 1}`);
  const create = await executedFiles("graphql", "POST", () => "/graphql", createBody);

  it("are listed in CONTRIBUTING.md, each with the sentence that it begins with", async () => {
    const shared = list.map(({ path }) => path);
    const added = create.filter(({ path }) => !shared.includes(path));
    const withList = withFiles(textOf(contributing), "the files of a list", list);
    const guide = withFiles(withList, "the files of a create", added);
    const file = fileURLToPath(new URL(contributing, repository));
    await expect(guide, "`npm run generate` updates the lists of CONTRIBUTING.md").toMatchFileSnapshot(file);
  });

  it.for([
    ["a list over REST", list],
    ["a create over GraphQL", create],
  ] as const)("are printed with their functions for %s", ([title, executed]) => {
    process.stdout.write(`\n${title}: ${executed.length} files\n`);
    for (const { path, lines, functions } of executed) {
      process.stdout.write(`${path}: ${firstSentence(path)}\n    ${lines} lines: ${functions.join(", ")}\n`);
    }
    expect(executed.length).toBeGreaterThan(0);
  });
});

/**
 * Sends the request several times, each on a connection of its own. The number of a request gives it a path, so that the service
 * reads each page, and keeps none from an earlier request. The files are sorted by path.
 */
async function executedFiles(
  name: ServiceName,
  method: string,
  pathOf: (number: number) => string,
  body?: string,
): Promise<ExecutedFile[]> {
  await using store = await openRunningStore({ services: [name], environment, isProbed: true });
  await store.database.execute(addPets);
  const { key } = await store.database.issueKey();
  const service = store.serviceOf(name);
  let number = 0;
  const send = async (): Promise<Disposable> => {
    const path = pathOf(number);
    number += 1;
    const client = openHttpClient(service.origin);
    const { status, code, text } = await client.send(method, path, { key, ...(body !== undefined && { body }) });
    if (status !== 200 || code !== undefined) throw new Error(`${path}: ${status} ${text}`);
    return client;
  };

  for (let sent = 0; sent < warmUpRequests; sent += 1) (await send())[Symbol.dispose]();
  const counts = new Map<string, number>();
  for (let run = 0; run < runs; run += 1) {
    await service.calledFunctions();
    const client = await send();
    const called = new Set((await service.calledFunctions()).map((one) => `${sourceOf(one.url)} ${one.name}`));
    for (const one of called) counts.set(one, (counts.get(one) ?? 0) + 1);
    // Closed only now, because the end of a connection is no part of a request.
    client[Symbol.dispose]();
  }
  const names = new Map<string, string[]>();
  for (const [called, count] of counts) {
    const [path = "", name = ""] = called.split(" ");
    if (count === runs && existsSync(new URL(path, repository))) names.set(path, [...(names.get(path) ?? []), name]);
  }
  return [...names].sort().map(([path, functions]) => ({
    path,
    lines: textOf(path).split("\n").length - 1,
    functions: functions.filter((name) => name !== ""),
  }));
}

/** The source of one of our compiled modules, as a path from the root. Other modules have a path that does not exist. */
function sourceOf(url: string): string {
  const module = /^((?:packages|services)\/[^/]+)\/dist\/(.+)\.js$/.exec(url.slice(repository.href.length));
  return module === null ? "foreign" : `${module[1]}/src/${module[2]}.ts`;
}

function textOf(path: string): string {
  return readFileSync(new URL(path, repository), "utf8");
}

/**
 * The guide with these files in the list below the comment that begins with `title`. The order of the list is a matter of
 * taste, so it is kept. Files that the list does not have are added at its end.
 */
function withFiles(guide: string, title: string, files: readonly ExecutedFile[]): string {
  const list = new RegExp(`(?<=^<!-- ${title}.*-->\n\n)(?:\\d+\\. .*\n)*`, "m").exec(guide);
  if (list === null) throw new Error(`${contributing} has no comment "${title}"`);
  const [written] = list;
  const listed = [...written.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path);
  const placeOf = ({ path }: ExecutedFile) => (listed.includes(path) ? listed.indexOf(path) : listed.length);
  const sorted = files.toSorted((one, other) => placeOf(one) - placeOf(other));
  const items = sorted.map(({ path }, index) => `${index + 1}. \`${path}\`: ${firstSentence(path)}\n`);
  return guide.slice(0, list.index) + items.join("") + guide.slice(list.index + written.length);
}

/** The first sentence of the comment that a file begins with. */
function firstSentence(path: string): string {
  const [, comment = ""] = /^\/\*\*(.*?)\*\//s.exec(textOf(path)) ?? [];
  const text = comment.split(/[\s*]+/).join(" ");
  const [sentence] = /\S.*?\.(?= |$)/.exec(text) ?? [];
  if (sentence === undefined) throw new Error(`${path} must begin with a comment, /** ... */, that says what it does.`);
  return sentence;
}
