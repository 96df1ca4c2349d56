// Clients that others generate from the served documents, against a running service.
import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { shared } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { generate } from "openapi-typescript-codegen";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { openRunningStore } from "../conformance/running-store.js";
import { restQuickstart } from "../programs.js";

const execute = promisify(execFile);
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
/** `JSON.parse` makes 9007199254740992 of it. */
const exact = "9007199254740993";

const store = await shared(openRunningStore({ services: ["rest"] }));
const origin = store.originOf("rest");
const client = openHttpClient(origin);

it("openapi-typescript reads OpenAPI 3.1, and openapi-fetch keeps every digit as the quickstart says", async () => {
  await using project = await openProject();
  const key = await store.issueKey("valid");
  const quickstart = await readFile(restQuickstart, "utf8");
  const examples = [...quickstart.matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n(.*?)^```$/gms)];
  expect(examples.map(([, name]) => name)).toEqual(["generate.ts", "client.ts"]);
  for (const [, name = "", code = ""] of examples) {
    // `typescript` is version 7 here, which cannot write code.
    await writeFile(join(project.path, name), code.replace('"typescript"', '"typescript-5"'));
  }
  await project.run("generate.ts", key, ["--import", useTypescript5]);
  await project.check("client.ts", "generate.ts");
  expect(await project.run("client.ts", key)).toMatch(/^201 true\n\d+\n$/);
  expect(await storedCategories(key)).toEqual([exact]);
});

it("the quickstart installs each package that its TypeScript programs import, and tsx, which runs them", async () => {
  const [, section = ""] = (await readFile(restQuickstart, "utf8")).split("## Generated clients");
  const installed = [...section.matchAll(/^ {4}npm i (.+)$/gm)].flatMap(([, packages = ""]) => packages.split(" "));
  const imported = [...section.matchAll(/^import .* from "([\w@-][^":]*)";$/gm)].map(([, name = ""]) => name);
  const programs = [...section.matchAll(/npx (\w+)/g)].map(([, name = ""]) => name);
  expect(imported).toContain("lossless-json");
  expect(programs).toContain("tsx");
  for (const name of [...imported, ...programs]) expect(installed.map(withoutVersion), name).toContain(name);
});

it("openapi-typescript-codegen reads OpenAPI 3.0, and its plain client rounds an int64 above 2^53", async () => {
  await using project = await openProject();
  const key = await store.issueKey("valid");
  await client.send("POST", "/v1/pets", { key, body: `{"name":"Ada","categoryId":${exact},"status":"pending"}` });
  await generateFrom30(project.path);
  await writeFile(
    join(project.path, "program.ts"),
    `import { PetStore } from "./generated";
    const store = new PetStore({ BASE: ${JSON.stringify(`${origin}/v1`)}, TOKEN: process.env.API_KEY ?? "" });
    const [pet] = await store.pets.listPets({ status: "pending", limit: 100 });
    console.log(pet?.name, pet?.categoryId);
    const outside = new PetStore({ BASE: ${JSON.stringify(origin)}, TOKEN: process.env.API_KEY ?? "" });
    const { bannedUntil, plan } = await outside.limits.getRateLimit({});
    const until: number | null = bannedUntil;
    console.log(plan, until);`,
  );
  await project.check("program.ts");
  expect(await project.run("program.ts", key)).toBe("Ada 9007199254740992\nenterprise null\n");
});

it("openapi-typescript-codegen with a request function of one's own keeps every digit", async () => {
  await using project = await openProject();
  const key = await store.issueKey("valid");
  await writeFile(join(project.path, "exact-request.ts"), exactRequest);
  await generateFrom30(project.path, join(project.path, "exact-request.ts"));
  await writeFile(
    join(project.path, "program.ts"),
    `import { PetStore } from "./generated";
    const store = new PetStore({ BASE: ${JSON.stringify(`${origin}/v1`)}, TOKEN: process.env.API_KEY ?? "" });
    // The generated type is number.
    const categoryId = ${exact}n as unknown as number;
    const pet = await store.pets.createPet({ requestBody: { name: "Ina", categoryId, status: "sold" } });
    console.log(pet.name, String(pet.categoryId));`,
  );
  await project.check("program.ts");
  expect(await project.run("program.ts", key)).toBe(`Ina ${exact}\n`);
});

function withoutVersion(installed: string): string {
  return installed.replace(/(?<=.)@\d+$/, "");
}

/** A project with the packages of the generators. Its programs are TypeScript. */
async function openProject() {
  const directory = await openTemporaryDirectory();
  const pathOf = (name: string) => join(directory.path, name);
  await symlink(modules, pathOf("node_modules"));
  await writeFile(pathOf("package.json"), '{ "type": "module" }');
  return {
    ...directory,
    /** Fails if a program does not compile. */
    async check(...names: readonly string[]): Promise<void> {
      const options = ["--noEmit", "--strict", "--skipLibCheck"];
      const modern = ["--target", "es2023", "--module", "esnext", "--moduleResolution", "bundler"];
      const types = ["--types", "node", "--typeRoots", fileURLToPath(new URL("node_modules/@types", repository))];
      await execute(process.execPath, [tsc, ...options, ...modern, ...types, ...names], { cwd: directory.path });
    },
    /** Returns the output of the program. */
    async run(name: string, key: string, nodeOptions: readonly string[] = []): Promise<string> {
      await using build = await rolldown({
        input: pathOf(name),
        platform: "node",
        external: /^(openapi-|typescript-5|lossless-json)/,
      });
      const built = pathOf(`${name}.mjs`);
      await build.write({ file: built, format: "esm" });
      // biome-ignore lint/style/noProcessEnv: the environment of this machine.
      const env = { ...process.env, API_KEY: key, BASE_URL: `${origin}/v1` };
      return (await execute(process.execPath, [...nodeOptions, built], { cwd: directory.path, env })).stdout;
    },
  };
}

async function generateFrom30(folder: string, request?: string): Promise<void> {
  const { json } = await client.send("GET", "/openapi-3.0.json");
  await generate({
    input: json as Record<string, unknown>,
    output: join(folder, "generated"),
    clientName: "PetStore",
    useOptions: true,
    useUnionTypes: true,
    ...(request !== undefined && { request }),
  });
}

/** A module that leads imports of TypeScript to version 5, also those of openapi-typescript. */
const useTypescript5 = moduleUrl(`
  import { register } from "node:module";
  register(${JSON.stringify(
    moduleUrl(`
      const typescript5 = ${JSON.stringify(import.meta.resolve("typescript-5"))};
      export function resolve(specifier, context, next) {
        return next(/^typescript(-5)?$/.test(specifier) ? typescript5 : specifier, context);
      }`),
  )});`);

function moduleUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** The categories of the pets of this name, with all digits. */
async function storedCategories(key: string): Promise<readonly (string | undefined)[]> {
  const { text } = await client.send("GET", "/v1/pets?limit=100", { key });
  return [...text.matchAll(/"name":"Rex","categoryId":(-?\d+)/g)].map(([, digits]) => digits);
}

/** The file for `--request`, in place of the generated one, which uses `JSON.parse` and `JSON.stringify`. */
const exactRequest = `
import { isLosslessNumber, parse, stringify } from "lossless-json";
import { ApiError } from "./ApiError";
import type { ApiRequestOptions } from "./ApiRequestOptions";
import { CancelablePromise } from "./CancelablePromise";
import type { OpenAPIConfig } from "./OpenAPI";

function readNumber(name: string, value: unknown): unknown {
  if (!isLosslessNumber(value)) return value;
  return ["id", "categoryId"].includes(name) ? BigInt(value.value) : Number(value.value);
}

async function send<T>(config: OpenAPIConfig, options: ApiRequestOptions): Promise<T> {
  const query = new URLSearchParams(Object.entries(options.query ?? {}).filter(([, value]) => value !== undefined));
  const path = options.url.replace(/\\{(\\w+)\\}/g, (_all, name: string) => encodeURIComponent(options.path?.[name]));
  const given = Object.entries(options.headers ?? {}).filter(([, value]) => value !== undefined);
  const headers = { ...Object.fromEntries(given), Authorization: \`Bearer \${config.TOKEN}\` };
  if (options.body !== undefined) Object.assign(headers, { "Content-Type": "application/json" });
  const url = \`\${config.BASE}\${path}?\${query}\`;
  const body = options.body === undefined ? null : (stringify(options.body) ?? null);
  const response = await fetch(url, { method: options.method, headers, body });
  const answer = parse(await response.text(), readNumber);
  if (response.ok) return answer as T;
  const { status, statusText, ok } = response;
  throw new ApiError(options, { url, ok, status, statusText, body: answer }, statusText);
}

export function request<T>(config: OpenAPIConfig, options: ApiRequestOptions): CancelablePromise<T> {
  return new CancelablePromise((resolve, reject) => {
    send<T>(config, options).then(resolve, reject);
  });
}
`;
