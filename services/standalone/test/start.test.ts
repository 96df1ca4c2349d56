// `npm start` in a small checkout, with an `npx`, a pnpm and a turbo that write what the real ones would write.
import { spawnSync } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory, repository, serviceFlags } from "@petstore/harness/processes";
import { beforeEach, describe, expect, it } from "vitest";

const standalone = fileURLToPath(new URL("../", import.meta.url));
const { engines } = JSON.parse(await readFile(new URL("package.json", repository), "utf8"));
let root: string;

const fakePnpm = `#!/bin/sh
echo "pnpm $*" | tee -a calls
test -e fails-to-install && exit 1
mkdir -p node_modules/pnpm node_modules/.bin
echo '{ "version": "1.2.3" }' > node_modules/pnpm/package.json
cp pnpm turbo node_modules/.bin
`;

const fakeNpx = fakePnpm.replaceAll("pnpm $*", "npx $*");

const fakeTurbo = `#!/bin/sh
echo "turbo $*"
test -e fails-to-build && { echo "a type error"; exit 2; }
mkdir -p services/standalone/dist
echo 'console.log(["serving", process.env.HOST, process.env.PORT].filter(Boolean).join(" "))' > services/standalone/dist/main.js
`;

/** A user without rights, for a test that runs as root. */
const nobody = 65_534;

const projects = ["petstore", "@petstore/standalone...", "@petstore/admin..."];
const installing = `install ${projects.map((name) => `--filter=${name}`).join(" ")}\n`;

beforeEach(async () => {
  const directory = await openTemporaryDirectory();
  root = directory.path;
  await write("package.json", JSON.stringify({ engines, packageManager: "pnpm@1.2.3" }));
  await mkdir(join(root, "services/standalone"), { recursive: true });
  await copyFile(new URL("run.mjs", repository), join(root, "run.mjs"));
  for (const file of ["start.mjs", "build.mjs", "settings.mjs", "stop-with-npm.mjs"]) {
    await copyFile(join(standalone, file), join(root, "services/standalone", file));
  }
  await writeProgram("bin/npx", fakeNpx);
  await writeProgram("pnpm", fakePnpm);
  await writeProgram("turbo", fakeTurbo);
  return () => directory[Symbol.asyncDispose]();
});

describe("`npm start`", () => {
  it.each(["18.20.8", "20.20.0", "21.7.3", "22.22.0", "23.11.1", "24.13.0", "25.9.0"])(
    "refuses Node.js %s in one line, before the install",
    (version) => {
      const needed = "20 from 20.20.1, or 22 from 22.22.1, or 24 from 24.13.1, or 26 or later";
      const complained = `The pet store needs Node.js ${needed}. This is ${version}.\n`;
      expect(start({ version })).toEqual({ exitCode: 1, printed: "", complained });
    },
  );

  it.each(["20.20.1", "20.20.10", "22.22.1", "24.13.1", "26.0.0", "27.0.0"])("accepts Node.js %s", (version) => {
    expect(start({ version })).toMatchObject({ exitCode: 0, printed: "serving\n" });
  });

  it("installs what the store needs with the pnpm of package.json, from npx at first, and then serves", async () => {
    const notice = "Installing what the store needs (550 packages, 600 MB). This takes one to four minutes.\n";
    const complained = `${notice}npx --yes pnpm@1.2.3 ${installing}`;
    expect(start()).toEqual({ exitCode: 0, printed: "serving\n", complained });
    expect(start()).toEqual({ exitCode: 0, printed: "serving\n", complained: "" });
    await expectCalls(`npx --yes pnpm@1.2.3 ${installing}`, `pnpm ${installing}`);
  });

  it("installs at first with the pnpm whose hash npm verifies, on Linux", async () => {
    await writeProgram(".package-manager/pnpm", fakePnpm.replaceAll("pnpm $*", "verified pnpm $*"));
    await writeProgram(
      "bin/npm",
      'echo "$PWD: npm $*" >> ../calls\nmkdir -p node_modules/@pnpm/exe.linux-x64 node_modules/@pnpm/exe.linux-arm64\ntouch node_modules/@pnpm/exe.linux-x64/pnpm node_modules/@pnpm/exe.linux-arm64/pnpm',
    );
    expect(start().printed).toBe("serving\n");
    expect(start().printed).toBe("serving\n");
    await expectCalls(`${root}/.package-manager: npm ci\n`, `verified pnpm ${installing}`, `pnpm ${installing}`);
  });

  it.each([
    ["fails", "echo offline >&2\nexit 1", /offline\nInstalling pnpm failed\.\n$/],
    [
      "leaves out a pnpm with another hash",
      "mkdir -p node_modules/@pnpm",
      /\nnpm did not install the pnpm whose hash .*\n$/,
    ],
  ])("does not serve if npm %s", async (_what, script, complained) => {
    await mkdir(join(root, ".package-manager"));
    await writeProgram("bin/npm", script);
    expect(start()).toEqual({ exitCode: 1, printed: "", complained: expect.stringMatching(complained) });
  });

  it("uses npx again when package.json names another pnpm than the installed one", async () => {
    start();
    await write("package.json", JSON.stringify({ engines, packageManager: "pnpm@1.2.4" }));
    start();
    await expectCalls(`npx --yes pnpm@1.2.3 ${installing}`, `npx --yes pnpm@1.2.4 ${installing}`);
  });

  it("does not serve if the installation failed", async () => {
    await write("fails-to-install");
    const complained = expect.stringMatching(/^Installing .*\nnpx .*\nInstalling failed\.\n$/);
    expect(start()).toEqual({ exitCode: 1, printed: "", complained });
  });

  it("says how to raise a limit of open files that is too low to load the store", async () => {
    await writeProgram("turbo", `${fakeTurbo}echo 'import "petstore-none"' > services/standalone/dist/main.js\n`);
    const advice = "This user may open only 256 files, which is too few: run ulimit -n 4096 first.\n";
    const missing = "Cannot find package 'petstore-none'";
    const few = start({ openFiles: 256 });
    expect(few.exitCode).toBe(1);
    expect(few.complained).toMatch(new RegExp(`The pet store cannot be loaded: ${missing}.*\\n${advice}$`));
    const many = start();
    expect(many.exitCode).toBe(1);
    expect(many.complained).toContain(missing);
    expect(many.complained).not.toContain("too few");
  });

  it("prints why a build failed, does not serve, and builds again at the next start", async () => {
    await write("fails-to-build");
    for (let attempt = 0; attempt < 2; attempt++) {
      const complained = expect.stringMatching(/a type error\nBuilding failed\.\n$/);
      expect(start()).toEqual({ exitCode: 1, printed: "", complained });
    }
    await rm(join(root, "fails-to-build"));
    expect(start().printed).toBe("serving\n");
  });

  it("serves what was built in a checkout that its user may not change", async () => {
    start();
    await chmod(root, 0o555);
    const served = start({ uid: process.getuid?.() || nobody });
    await chmod(root, 0o755);
    expect(served).toEqual({ exitCode: 0, printed: "serving\n", complained: "" });
  });
});

describe("the settings of `npm start`", () => {
  it.each([
    ["--port 4999", "serving 4999\n"],
    ["--host=::1 --port=0", "serving ::1 0\n"],
  ])("may be the options %j", (words, printed) => {
    expect(start({ words })).toMatchObject({ exitCode: 0, printed });
  });

  it("come from options, then from the environment, then from the file .env", async () => {
    await write(".env", "HOST=from-file\nPORT=1\n# BAN_STRIKES=2\n");
    expect(start().printed).toBe("serving from-file 1\n");
    expect(start({ environment: { PORT: "2" } }).printed).toBe("serving from-file 2\n");
    expect(start({ environment: { PORT: "2" }, words: "--port 3" }).printed).toBe("serving from-file 3\n");
  });

  it("do not reach the installation", async () => {
    await write(".env", "PORT=1\nNODE_ENV=production\n");
    await writeProgram("bin/npx", `${fakeNpx}\necho "npx: $NODE_ENV $PORT"`);
    const { printed, complained } = start({ words: "--port 2" });
    expect(complained).toMatch(/\nnpx: *\n$/);
    expect(printed).toBe("serving 2\n");
  });

  it.each(["--prot 4999", "--port", "4999", "--help=yes"])(
    "are refused with exit code 2, before the install: %s",
    (words) => {
      const usage = "Usage: npm start -- \\[--port PORT\\] \\[--host HOST\\] \\[--help\\]";
      const { exitCode, complained } = start({ words });
      expect(exitCode).toBe(2);
      expect(complained).toMatch(new RegExp(`^(Unknown option|Option|Unexpected argument) '.*\\.\\n${usage}\\n$`));
    },
  );

  it("are explained by --help, before the install", () => {
    const { exitCode, printed, complained } = start({ words: "--help" });
    expect({ exitCode, complained }).toEqual({ exitCode: 0, complained: "" });
    expect(printed).toMatch(/^Usage: npm start -- .*\n\nStarts the pet store/);
  });
});

/** With these options, text from a client cannot become code. The tests of running services start them with the same. */
it.each(["", "services/rest/", "services/graphql/"])(
  "the start script of %spackage.json has the options of the services",
  async (folder) => {
    const { scripts } = JSON.parse(await readFile(new URL(`${folder}package.json`, repository), "utf8"));
    expect(scripts.start).toMatch(new RegExp(`^node ${serviceFlags.join(" ")} `));
  },
);

interface Start {
  /** The options, separated by blanks. */
  readonly words?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The version of Node.js that it sees. */
  readonly version?: string;
  /** The user that runs it, if it is not the one who runs this test. */
  readonly uid?: number;
  /** The limit of open files. */
  readonly openFiles?: number;
}

/** Runs `start.mjs` in the checkout. */
function start({ words = "", environment, version = process.versions.node, uid, openFiles }: Start = {}) {
  const versions = JSON.stringify({ ...process.versions, node: version });
  const pretend = `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
  const args = ["--import", pretend, "services/standalone/start.mjs", ...words.split(" ").filter(Boolean)];
  const limit = openFiles === undefined ? "" : `ulimit -n ${openFiles} && `;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", `${limit}exec "$0" "$@"`, process.execPath, ...args], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: `${join(root, "bin")}:${process.env.PATH}`, ...environment },
    ...(uid !== undefined && { uid }),
  });
  return { exitCode: status, printed: stdout, complained: stderr };
}

/** Checks the calls of npx and pnpm until now. */
async function expectCalls(...calls: readonly string[]): Promise<void> {
  expect(await readFile(join(root, "calls"), "utf8")).toBe(calls.join(""));
}

async function writeProgram(path: string, script: string): Promise<void> {
  await write(path, script);
  await chmod(join(root, path), 0o755);
}

async function write(path: string, content = ""): Promise<void> {
  const target = join(root, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}
