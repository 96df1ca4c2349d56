// Installs the client as the guides say, in an empty project, from a store of `npm start`.
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory, repository, startStandaloneStore } from "@petstore/harness/processes";
import { rolldown } from "rolldown";
import { beforeAll, expect, it } from "vitest";
import { standaloneMain } from "../programs.js";

const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
/** The last version with `moduleResolution: node10`. */
const tsc5 = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript-5/package.json")));
const bottleneck = fileURLToPath(new URL("packages/client/node_modules/bottleneck", repository));

// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell replaces it.
const installation = 'curl -LO "${BASE_URL%/v1}/petstore-client.tgz" && npm i ./petstore-client.tgz';

const compilerOptions = {
  target: "es2023",
  module: "nodenext",
  lib: ["es2023", "dom", "dom.asynciterable"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
};

/** The globals of a browser page that the client uses, and none of Node's own. */
const webPlatform = {
  AbortController,
  AbortSignal,
  clearInterval,
  clearTimeout,
  crypto,
  fetch,
  Headers,
  performance,
  setInterval,
  setTimeout,
  URL,
  URLSearchParams,
};

const store = await shared(startStandaloneStore(standaloneMain));
const project = await shared(openTemporaryDirectory());

beforeAll(async () => {
  await writeFile(join(project.path, "package.json"), '{ "type": "module", "private": true }');
  // The one dependency of the client comes from the workspace, so that the test needs no registry.
  await run("npm", "install", "--ignore-scripts", bottleneck);
  await run("sh", "-euc", installation);
  await compile(".", tsc, {});
});

it.each(["packages/client/README.md", "services/rest/docs/quickstart.md"])(
  "%s says how to install the client",
  async (path) => {
    expect(await readFile(new URL(path, repository), "utf8")).toContain(`\n    ${installation}\n`);
  },
);

it("the README in the package links to no file, because the files are not in the package", async () => {
  const readme = await readFile(join(project.path, "node_modules/@petstore/client/README.md"), "utf8");
  const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter((link) => !/^(https:|#)/.test(link))).toEqual([]);
});

const rex = /^{"id":"\d+","name":"Rex","categoryId":"9007199254740993","status":"available"}\n?$/;

const runProgram = (folder: string) => {
  const script = `import { createAndFind } from "./${folder}/program.js"; console.log(await createAndFind());`;
  return run(process.execPath, "--input-type=module", "--eval", script);
};

it("a TypeScript program in an empty project uses the installed client", async () => {
  expect(await runProgram(".")).toMatch(rex);
});

it.each([
  ["node10", "commonjs", tsc5, { module: "commonjs", moduleResolution: "node10" }],
  ["node16", "commonjs", tsc, { module: "node16" }],
  ["nodenext", "commonjs", tsc, { module: "nodenext" }],
  ["bundler", "module", tsc, { module: "esnext", moduleResolution: "bundler" }],
] as const)(
  "with the module resolution %s, a program of the type %s compiles and uses the installed client",
  async (resolution, type, compiler, options) => {
    const folder = `${resolution}-${type}`;
    await mkdir(join(project.path, folder));
    await writeFile(join(project.path, folder, "package.json"), JSON.stringify({ type }));
    await compile(folder, compiler, options);
    const loads = type === "commonjs" ? 'require("@petstore/client")' : 'from "@petstore/client"';
    expect(await readFile(join(project.path, folder, "program.js"), "utf8")).toContain(loads);
    expect(await runProgram(folder)).toMatch(rex);
  },
);

it("errors of both copies of the package have the same names and codes, and `instanceof` holds for their own copy", async () => {
  const script = `
    import * as imported from "@petstore/client";
    import { createRequire } from "node:module";
    const required = createRequire(import.meta.url)("@petstore/client");
    const errorOf = ({ createPetStoreClient }) =>
      createPetStoreClient({ baseUrl: "${store.origin}/v1", apiKey: "unknown" }).pets.list().catch((error) => error);
    for (const own of [imported, required]) {
      const error = await errorOf(own);
      const classes = [imported, required].map(({ PetStoreError }) => error instanceof PetStoreError);
      console.log(error.name, error.code, ...classes);
    }`;
  await writeFile(join(project.path, "copies.js"), script);
  expect(await run(process.execPath, "copies.js")).toBe(
    "PetStoreError API_KEY_INVALID true false\nPetStoreError API_KEY_INVALID false true\n",
  );
});

it("the same program, as a bundle of less than 12 kB, runs with the globals of a browser", async () => {
  await using build = await rolldown({
    input: join(project.path, "program.js"),
    platform: "browser",
    // By default a module that browsers lack, such as node:fs, is only a warning.
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: "iife", name: "program", minify: true });
  const { code } = output[0];
  const compressedBytes = gzipSync(code).length;
  process.stdout.write(`@petstore/client for browsers: ${code.length} bytes, ${compressedBytes} compressed\n`);
  expect(compressedBytes).toBeLessThan(12_000);
  expect(await runInContext(`${code}; program.createAndFind()`, createContext(webPlatform))).toMatch(rex);
});

/** Compiles the program in a folder of the project. */
async function compile(folder: string, compiler: string, options: object): Promise<void> {
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: ["program.ts"] };
  await writeFile(join(project.path, folder, "program.ts"), program(`${store.origin}/v1`, store.demoKey));
  await writeFile(join(project.path, folder, "tsconfig.json"), JSON.stringify(config));
  await run(process.execPath, compiler, "--project", folder);
}

function program(baseUrl: string, apiKey: string): string {
  return `
import { createPetStoreClient, type Pet } from "@petstore/client";

const { pets } = createPetStoreClient({ baseUrl: "${baseUrl}", apiKey: "${apiKey}" });

export async function createAndFind(): Promise<string> {
  const created: Pet = await pets.create({ name: "Rex", categoryId: 9007199254740993n });
  // @ts-expect-error: without types this line would compile.
  const id: number = created.id;
  for await (const pet of pets.all()) if (pet.id === BigInt(id)) return JSON.stringify(pet);
  return "not found";
}
`;
}

/** Runs a program in the project, without a registry and without the settings of this user. Returns its output. */
async function run(command: string, ...words: readonly string[]): Promise<string> {
  const env = {
    // biome-ignore lint/style/noProcessEnv: the programs of this machine.
    PATH: process.env.PATH,
    HOME: project.path,
    BASE_URL: `${store.origin}/v1`,
    npm_config_cache: join(project.path, "npm-cache"),
    npm_config_offline: "true",
    // Copies the folder of Bottleneck, as an installation from the registry does.
    npm_config_install_links: "true",
  };
  return (await promisify(execFile)(command, [...words], { cwd: project.path, env })).stdout;
}
