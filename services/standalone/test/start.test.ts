// `npm start` in a small checkout, with an `npx` that writes what pnpm and turbo would write.
import { spawnSync } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory, serviceFlags } from "@petstore/harness/processes";
import { beforeEach, describe, expect, it } from "vitest";

const standalone = fileURLToPath(new URL("../", import.meta.url));
const repository = join(standalone, "../..");
const { engines } = JSON.parse(await readFile(join(repository, "package.json"), "utf8"));
let root: string;

const fakeNpx = `#!/bin/sh
echo "npx $*"
test -e fails-to-build && case "$*" in *turbo*) echo "a type error"; exit 2;; esac
mkdir -p node_modules/.pnpm services/standalone/dist packages/core/dist packages/core/node_modules
cp pnpm-lock.yaml node_modules/.pnpm/lock.yaml
cp pnpm-lock.yaml node_modules/.modules.yaml
cp packages/core/src/index.ts packages/core/dist/index.js
echo 'console.log(["serving", process.env.HOST, process.env.PORT].filter(Boolean).join(" "))' > services/standalone/dist/main.js
`;

beforeEach(async () => {
  const directory = await openTemporaryDirectory();
  root = directory.path;
  await write("package.json", JSON.stringify({ engines, packageManager: "pnpm@1.2.3" }));
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "tsconfig.base.json", "turbo.json"]) await write(file);
  for (const file of ["packages/core/src/index.ts", "tools/admin/src/main.ts"]) await write(file);
  await mkdir(join(root, "services/standalone"), { recursive: true });
  for (const file of ["start.mjs", "build.mjs", "settings.mjs", "stop-with-npm.mjs"]) {
    await copyFile(join(standalone, file), join(root, "services/standalone", file));
  }
  await write("bin/npx", fakeNpx);
  await chmod(join(root, "bin/npx"), 0o755);
  return () => directory[Symbol.asyncDispose]();
});

describe("`npm start`", () => {
  it.each(["18.20.8", "20.20.0", "21.7.3", "22.22.0", "23.11.1", "24.13.0", "25.9.0"])(
    "refuses Node.js %s in one line, before the install",
    (version) => {
      const needed = "20 from 20.20.1, or 22 from 22.22.1, or 24 from 24.13.1, or 26 or later";
      const output = `The pet store needs Node.js ${needed}. This is ${version}.\n`;
      expect(start({ version })).toEqual({ exitCode: 1, output });
    },
  );

  it.each(["20.20.1", "20.20.10", "22.22.1", "24.13.1", "26.0.0", "27.0.0"])("accepts Node.js %s", (version) => {
    expect(start({ version }).output).toMatch(/^Installing \.\.\.\n/);
  });

  it("installs and builds a new clone, and then only serves", () => {
    expect(start().output).toMatch(
      /^Installing \.\.\.\nnpx --yes pnpm@1\.2\.3 install --frozen-lockfile\nBuilding \.\.\.\nserving\n$/,
    );
    expect(start().output).toBe("serving\n");
  });

  it.each<[name: string, change: () => Promise<void>]>([
    ["an edited source", () => write("packages/core/src/index.ts", "export const changed = true;")],
    ["a new source", () => write("packages/core/src/new.ts")],
    ["a removed source", () => rm(join(root, "tools/admin/src/main.ts"))],
    ["an edited lockfile", () => write("pnpm-lock.yaml", "changed")],
    ["a new package", () => write("packages/new/package.json", "{}")],
    ["a build by hand", () => write("packages/core/dist/index.js", "built from another branch")],
    ["a damaged record of the last build", () => write("node_modules/.cache/petstore-start.json", "null")],
    ["a missing built file", () => rm(join(root, "packages/core/dist/index.js"))],
  ])("installs and builds again after %s", async (_name, change) => {
    start();
    await change();
    expect(start().output).toContain("Building ...");
    expect(start().output).toBe("serving\n");
  });

  it("says how to raise a limit of open files that is too low to load the store", async () => {
    await write("bin/npx", `${fakeNpx}echo 'import "petstore-none"' > services/standalone/dist/main.js\n`);
    const advice = "This user may open only 256 files, which is too few: run ulimit -n 4096 first.\n";
    const missing = "Cannot find package 'petstore-none'";
    const few = start({ openFiles: 256 });
    expect(few.exitCode).toBe(1);
    expect(few.output).toMatch(new RegExp(`The pet store cannot be loaded: ${missing}.*\\n${advice}$`));
    const many = start();
    expect(many.exitCode).toBe(1);
    expect(many.output).toContain(missing);
    expect(many.output).not.toContain("too few");
  });

  it("prints why a build failed, does not serve, and builds again at the next start", async () => {
    await write("fails-to-build");
    for (let attempt = 0; attempt < 2; attempt++) {
      const { exitCode, output } = start();
      expect(exitCode).toBe(1);
      expect(output).toContain("a type error\n\nBuilding failed.\n");
      expect(output).not.toContain("serving");
    }
    await rm(join(root, "fails-to-build"));
    expect(start().output).toContain("Building ...");
  });
});

describe("the settings of `npm start`", () => {
  it.each([
    ["--port 4999", "serving 4999\n"],
    ["--host=::1 --port=0", "serving ::1 0\n"],
  ])("may be the options %j", (words, output) => {
    start();
    expect(start({ words })).toEqual({ exitCode: 0, output });
  });

  it("come from options, then from the environment, then from the file .env", async () => {
    start();
    await write(".env", "HOST=from-file\nPORT=1\n# BAN_STRIKES=2\n");
    expect(start().output).toBe("serving from-file 1\n");
    expect(start({ environment: { PORT: "2" } }).output).toBe("serving from-file 2\n");
    expect(start({ environment: { PORT: "2" }, words: "--port 3" }).output).toBe("serving from-file 3\n");
  });

  it("do not reach the installation", async () => {
    await write(".env", "PORT=1\nNODE_ENV=production\n");
    await write("bin/npx", `${fakeNpx}\necho "npx: $NODE_ENV $PORT"`);
    expect(start({ words: "--port 2" }).output).toMatch(/npx: *\n(.*\n)*serving 2\n$/);
  });

  it.each(["--prot 4999", "--port", "4999", "--help=yes"])(
    "are refused with exit code 2, before the install: %s",
    (words) => {
      const usage = "Usage: npm start -- \\[--port PORT\\] \\[--host HOST\\] \\[--help\\]";
      const { exitCode, output } = start({ words });
      expect(exitCode).toBe(2);
      expect(output).toMatch(new RegExp(`^(Unknown option|Option|Unexpected argument) '.*\\.\\n${usage}\\n$`));
    },
  );

  it("are explained by --help, before the install", () => {
    const { exitCode, output } = start({ words: "--help" });
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^Usage: npm start -- .*\n\nStarts the pet store/);
  });
});

/** With these options, text from a client cannot become code. The tests of running services start them with the same. */
it.each(["", "services/rest/", "services/graphql/"])(
  "the start script of %spackage.json has the options of the services",
  async (folder) => {
    const { scripts } = JSON.parse(await readFile(join(repository, folder, "package.json"), "utf8"));
    expect(scripts.start).toMatch(new RegExp(`^node ${serviceFlags.join(" ")} `));
  },
);

interface Start {
  /** The options, separated by blanks. */
  readonly words?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The version of Node.js that it sees. */
  readonly version?: string;
  /** The limit of open files. */
  readonly openFiles?: number;
}

/** Runs `start.mjs` in the checkout. */
function start({ words = "", environment, version = process.versions.node, openFiles }: Start = {}) {
  const versions = JSON.stringify({ ...process.versions, node: version });
  const pretend = `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
  const args = ["--import", pretend, "services/standalone/start.mjs", ...words.split(" ").filter(Boolean)];
  const limit = openFiles === undefined ? "" : `ulimit -n ${openFiles} && `;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", `${limit}exec "$0" "$@"`, process.execPath, ...args], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: `${join(root, "bin")}:${process.env.PATH}`, ...environment },
  });
  return { exitCode: status, output: `${stdout}${stderr}` };
}

async function write(path: string, content = ""): Promise<void> {
  const target = join(root, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}
