import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { rexJson } from "./scripted-service.js";

/** The package and all it needs, as one script for browsers that defines `petstore`. */
async function bundle(): Promise<string> {
  await using build = await rolldown({
    input: fileURLToPath(new URL("../dist/index.js", import.meta.url)),
    platform: "browser",
    // What cannot be bundled for a browser, such as a module of Node's, is a warning by default.
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: "iife", name: "petstore", minify: true });
  expect(output).toHaveLength(1);
  return output[0].code;
}

const code = await bundle();

/** The global scope of a browser page as far as the client uses it, and nothing of Node's. */
const webPlatform = {
  AbortController,
  AbortSignal,
  clearInterval,
  clearTimeout,
  crypto,
  Headers,
  Request,
  Response,
  setInterval,
  setTimeout,
  URL,
  URLSearchParams,
};

it("is one bundle for browsers, below 12 kB compressed, Bottleneck included", () => {
  const bytes = gzipSync(code).length;
  process.stdout.write(`@petstore/client for browsers: ${code.length} bytes, ${bytes} compressed\n`);
  expect(bytes).toBeLessThan(12_000);
});

it("needs nothing of Node's: it works where only the web platform is", async () => {
  const sent: string[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push(`${init.method} ${url}`);
    return new Response(init.method === "POST" ? rexJson : `[${rexJson}]`, { status: 200 });
  };
  const page = createContext({ ...webPlatform, fetch });
  runInContext(code, page);
  const script = `(async () => {
    const { pets } = petstore.createPetStoreClient({ baseUrl: "https://petstore.example/v1", apiKey: "key" });
    const { categoryId } = await pets.create({ name: "Rex", categoryId: 9007199254740993n });
    const found = [];
    for await (const { id } of pets.all()) found.push(String(id));
    return [String(categoryId), ...found, typeof process, typeof require, typeof Buffer].join(" ");
  })()`;
  expect(await runInContext(script, page)).toBe("9007199254740993 9223372036854775807 undefined undefined undefined");
  expect(sent).toEqual(["POST https://petstore.example/v1/pets", "GET https://petstore.example/v1/pets?limit=100"]);
});
