// The figures of README.md, compared with the last full run.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { repository } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import type { Rounds } from "../src/benchmark.js";
import { spreadOf } from "../src/report.js";

const root = fileURLToPath(repository);
const readme = await readFile(`${root}README.md`, "utf8");
const folder = `${root}tools/bench/results`;
/** Their names begin with the date. */
const lastRun = (await readdir(folder)).sort().at(-1);
const results: readonly { readonly name?: string; readonly rounds?: Rounds }[] = JSON.parse(
  await readFile(`${folder}/${lastRun}`, "utf8"),
);

it.each([
  ["REST: Express 5 alone", "rest-browse", "petstore-rest", "bare-express"],
  ["REST: Express with rate-limiter-flexible", "rest-browse", "petstore-rest", "express-flexible"],
  ["REST: Fastify with @fastify/rate-limit", "rest-browse", "petstore-rest", "fastify-rate-limit"],
  ["GraphQL: Apollo Server alone", "graphql-browse", "petstore-graphql", "bare-apollo"],
  ["GraphQL: PostGraphile", "graphql-browse", "petstore-graphql", "postgraphile"],
  ["GraphQL: Mercurius", "graphql-browse", "petstore-graphql", "mercurius"],
])("the README has the ratios of the last run to %s", (title, benchmark, of, against) => {
  const [at32, at1] = ["32", "1"].map((connections) => {
    const rounds = roundsOf(`${benchmark} at ${connections}`);
    return spreadOf({ measure: "CPU us/request", of, against }, rounds).median.toFixed(2);
  });
  expect(readme).toContain(`| ${title} | ${at32} | ${at1} |`);
});

it("the README has the memory, the SQL statements and the start of the last run", () => {
  const words = readme.replaceAll("\n", " ");
  const [atStart, at32, at512] = memoryOf("petstore-rest");
  expect(words).toContain(`${atStart} MiB at start, ${at32} MiB with 32 connections and ${at512} MiB with 512`);
  const graphql = new Intl.ListFormat("en-GB").format(memoryOf("petstore-graphql"));
  expect(words).toContain(`(GraphQL: ${graphql} MiB)`);
  for (const of of ["petstore-rest", "petstore-graphql"]) {
    const statements = spreadOf({ measure: "SQL statements/list", of }, roundsOf("statements")).median;
    expect(words).toContain(`A list needs ${statements.toFixed(2)} SQL statements`);
  }
  const seconds = spreadOf({ measure: "seconds to the first response", of: "npm start" }, roundsOf("start")).median;
  expect(words).toContain(`answers after ${seconds.toFixed(1)} s`);
});

function memoryOf(of: string): string[] {
  const measures = ["RSS MiB at start", "highest RSS MiB at 32 connections", "highest RSS MiB at 512 connections"];
  return measures.map((measure) => spreadOf({ measure, of }, roundsOf("memory")).median.toFixed(0));
}

function roundsOf(name: string): Rounds {
  const rounds = results.find((result) => result.name === name)?.rounds;
  if (rounds === undefined) throw new Error(`the last run has no benchmark ${name}`);
  return rounds;
}
