import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { rexJson } from "./scripted-service.js";

/** The package and its dependencies as one browser script, which defines `petstore`. */
async function bundle(): Promise<string> {
  await using build = await rolldown({
    input: fileURLToPath(new URL("../dist/index.js", import.meta.url)),
    platform: "browser",
    // By default a module that browsers lack, such as node:fs, is only a warning.
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: "iife", name: "petstore", minify: true });
  expect(output).toHaveLength(1);
  return output[0].code;
}

const code = await bundle();

/** The globals of a browser page that the client uses, and none of Node's own. */
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

it("bundles for browsers in less than 12 kB, compressed and with Bottleneck", () => {
  const bytes = gzipSync(code).length;
  process.stdout.write(`@petstore/client for browsers: ${code.length} bytes, ${bytes} compressed\n`);
  expect(bytes).toBeLessThan(12_000);
});

it("works with the web platform alone, without the globals of Node", async () => {
  const requests: string[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    requests.push(`${init.method} ${url}`);
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
  expect(requests).toEqual(["POST https://petstore.example/v1/pets", "GET https://petstore.example/v1/pets?limit=100"]);
});
