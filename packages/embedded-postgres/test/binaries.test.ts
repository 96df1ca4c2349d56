import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { chooseAccount, runAs } from "../src/account.js";
import { findBinaries, makeUsable } from "../src/binaries.js";

const installed = await findBinaries(undefined);
const account = await chooseAccount("/nowhere");
const links = (await readdir(join(installed, "../lib"), { withFileTypes: true })).filter((entry) =>
  entry.isSymbolicLink(),
);

/** A copy of the package, without the links that its install script makes, and without the thousand small files of `share`. */
async function installWithoutScripts() {
  const directory = await mkdtemp(join(tmpdir(), "petstore-binaries-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const root = join(directory, "package");
  const native = dirname(installed);
  const left = [join(native, "share"), ...links.map(({ name }) => join(native, "lib", name))];
  const filter = (path: string) => !left.includes(path);
  await cp(join(installed, "../.."), root, { recursive: true, verbatimSymlinks: true, filter });
  // mkdtemp makes a folder that no other account can enter.
  execFileSync("chmod", ["755", directory]);
  return { root, binaries: join(root, "native/bin"), copies: join(directory, "cache/petstore") };
}

test.runIf(links.length > 0)("links are restored after an install without scripts", async () => {
  const { binaries, copies } = await installWithoutScripts();
  expect(await makeUsable(binaries, undefined, copies)).toBe(binaries);
  for (const { name } of links) {
    expect(await readlink(join(binaries, "../lib", name))).toBe(await readlink(join(installed, "../lib", name)));
  }
});

test.runIf(links.length > 0)(
  "programs that do not run are refused in one line, with the folder and the reason",
  async () => {
    const { root, binaries, copies } = await installWithoutScripts();
    await rm(join(root, "native/pg-symlinks.json"));
    await expect(makeUsable(binaries, undefined, copies)).rejects.toThrow(
      /^The PostgreSQL programs in \S+native\/bin do not run here: .*\. Instead, run services\/rest .*$/,
    );
  },
);

describe.runIf(account !== undefined)("for root, with programs that the account of the server cannot run,", () => {
  const runsAll = async (binaries: string) => {
    for (const program of await readdir(binaries)) {
      expect((await runAs(account, join(binaries, program), ["--version"])).output).toContain("(PostgreSQL)");
    }
  };
  const unreadable = (folder: string) =>
    execFileSync(
      "find",
      [folder, "!", "-type", "l", "(", "!", "-perm", "-a=r", "-o", "-type", "d", "!", "-perm", "-a=x", ")"],
      { encoding: "utf8" },
    );

  async function installClosed() {
    const places = await installWithoutScripts();
    execFileSync("chmod", ["-R", "go-rwx", places.root]);
    return places;
  }

  test("a copy is made that the account can read, in any umask", async () => {
    const { binaries, copies } = await installClosed();
    await mkdir(dirname(copies));
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    const copied = await makeUsable(binaries, account, copies);
    expect(dirname(dirname(copied))).toBe(copies);
    await runsAll(copied);
    expect(unreadable(dirname(copied))).toBe("");
    // The next start uses it again.
    await rm(binaries, { recursive: true });
    expect(await makeUsable(binaries, account, copies)).toBe(copied);
  });

  test.each<[name: string, damage: (copy: string) => Promise<unknown>]>([
    ["is closed", async (copy) => execFileSync("chmod", ["700", copy])],
    ["lacks links", (copy) => rm(join(copy, "lib"), { recursive: true })],
    ["has an empty program", (copy) => writeFile(join(copy, "bin/initdb"), "")],
  ])("a copy that %s is replaced, even by several starts at once", async (_name, damage) => {
    const { binaries, copies } = await installClosed();
    const copied = await makeUsable(binaries, account, copies);
    await damage(dirname(copied));
    const starts = Array.from({ length: 3 }, () => makeUsable(binaries, account, copies));
    expect(new Set(await Promise.all(starts))).toEqual(new Set([copied]));
    await runsAll(copied);
    expect(await readdir(copies)).toHaveLength(1);
  });
});
