// A machine on which root follows "Starting on one machine without containers" of the operations guide: a temporary folder with its
// own /etc and /opt, its own ports, and programs in the place of useradd and systemctl.
import { randomInt } from "node:crypto";
import { appendFile, chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { choosePort } from "@petstore/embedded-postgres";
import { openHttpServer } from "@petstore/harness/network";
import { openPostgresServer, postgresPath, query } from "@petstore/harness/postgres";
import {
  markedCommands,
  openTemporaryDirectory,
  openTogether,
  type Program,
  startProgram,
} from "@petstore/harness/processes";
import { read, run } from "./commands.js";

export interface Machine extends AsyncDisposable {
  /** Returns the text of the guide with the paths and ports of this machine. */
  here(text: string): string;
  /** Runs the block of the guide in the clone, and returns its output. */
  follow(mark: string): Promise<string>;
  /** Runs a command that the guide describes, in the same way. */
  sh(commands: string): Promise<string>;
  /** The processes that run, by the names of their units. */
  readonly running: ReadonlyMap<string, Program>;
  /** How each process has ended that was replaced. */
  readonly exits: readonly (number | NodeJS.Signals)[];
}

/** What a unit starts. */
interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly isOneshot?: boolean;
}

/** The files of the clone that the guide uses. */
const files = [
  "haproxy.cfg",
  "postgres/roles.sql",
  "prometheus/alerts.yaml",
  "prometheus/alerts.hosts.yaml",
  "systemd/haproxy.cfg",
  "systemd/hardening.conf",
  "systemd/petstore",
  "systemd/petstore-api@.service",
  "systemd/petstore-migrate.service",
  "systemd/petstore.env",
  "systemd/prometheus.yaml",
];

/** The settings take the place of those in petstore.env, or follow them. */
export function openMachine(settings: Readonly<Record<string, string>>): Promise<Machine> {
  return openTogether(async (use) => {
    const { path: root } = use(await openTemporaryDirectory());
    const postgres = use(await openPostgresServer());
    const administratorUrl = (pathname: string) => Object.assign(new URL(postgres.administratorUrl), { pathname }).href;
    // The server has a store already. The machine needs one without.
    await query(administratorUrl("petstore"), "drop owned by petstore_service");
    for (const dropped of ["database petstore", "role petstore_service", "role petstore"]) {
      await query(administratorUrl("postgres"), `drop ${dropped}`);
    }

    const prefix = await choosePrefix();
    const freePort = async () => `127.0.0.1:${await choosePort(undefined)}`;
    const [redis = "", haproxy = "", prometheus = ""] = [await freePort(), await freePort(), await freePort()];
    const replacements: readonly (readonly [there: string | RegExp, here: string])[] = [
      [/\b(1?)300([1-4])\b/g, `$1${prefix}$2`],
      ["127.0.0.1:5432", new URL(postgres.url).host],
      ["127.0.0.1:6379", redis],
      ["127.0.0.1:8080", haproxy],
      ["127.0.0.1:9090", prometheus],
      ["~ada/", "~/"],
      [/(?<=[\s"'=:>(])\/(?=(?:etc|opt)\/|usr\/local\/)/g, `${root}/`],
      [/(?<=[\s=])\/usr\/bin\/node\b/g, process.execPath],
      // Only root can become another user.
      [/^ +(?:user|group|chroot) .*\n/gm, ""],
    ];
    const here = (there: string) => replacements.reduce((adapted, [from, to]) => adapted.replaceAll(from, to), there);

    const clone = join(root, "clone");
    const folders = ["bin", "home", "usr/local/sbin", "etc/systemd/system", "etc/default", "etc/haproxy", "etc/redis"];
    const cloned = ["postgres", "prometheus", "systemd"].map((name) => `clone/tools/deploy/${name}`);
    for (const folder of [...folders, "etc/prometheus", "data/redis", ...cloned]) {
      await mkdir(join(root, folder), { recursive: true });
    }
    for (const file of files) await writeFile(join(clone, "tools/deploy", file), here(await read(file)));
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await appendFile(join(clone, "tools/deploy/systemd/petstore.env"), lines.join(""));
    const [redisHost = "", redisPort = ""] = redis.split(":");
    // As the packages of Debian leave them.
    await writeFile(
      join(root, "etc/redis/redis.conf"),
      `bind ${redisHost}\nport ${redisPort}\ndir ${root}/data/redis\n`,
    );
    await writeFile(join(root, "etc/default/prometheus"), 'ARGS=""\n');

    const running = new Map<string, Program>();
    const exits: (number | NodeJS.Signals)[] = [];
    use({
      async [Symbol.asyncDispose]() {
        await Promise.all([...running.values()].map((program) => program.stop()));
      },
    });

    async function systemctl(words: readonly string[]): Promise<void> {
      const [action = "", ...units] = words.filter((word) => !word.startsWith("--"));
      if (!["daemon-reload", "enable", "start", "restart"].includes(action)) throw new Error(`not known: ${words}`);
      for (const unit of units) {
        const old = running.get(unit);
        if (action === "restart" && old !== undefined) exits.push(await old.stop());
        await start(unit);
      }
    }

    async function start(unit: string): Promise<void> {
      const { isOneshot = false, ...command } = await commandOf(unit);
      const program = startProgram({ name: unit, ...command, directory: root });
      if (!isOneshot) {
        running.set(unit, program);
        return;
      }
      const exit = await program.ended;
      if (exit !== 0) throw new Error(`${unit} failed: ${program.output.join("\n")}`);
    }

    async function commandOf(unit: string): Promise<Command> {
      const readHere = (path: string) => readFile(join(root, path), "utf8");
      const none = { environment: {} };
      switch (unit) {
        case "redis-server":
          return { command: "redis-server", args: [join(root, "etc/redis/redis.conf")], ...none };
        case "haproxy": {
          const { CONFIG = "", ...environment } = readVariables(await readHere("etc/default/haproxy"));
          // A warning about the configuration is an error.
          return { command: "haproxy", args: ["-db", "-q", "-dW", "-f", CONFIG], environment };
        }
        case "prometheus": {
          const { ARGS = "" } = readVariables(await readHere("etc/default/prometheus"));
          const paths = [
            `--config.file=${root}/etc/prometheus/prometheus.yml`,
            `--storage.tsdb.path=${root}/data/prometheus`,
          ];
          return { command: "prometheus", args: [...paths, ...ARGS.split(" ")], ...none };
        }
        default: {
          const [, name = "", instance] = /^([a-z-]+)(?:@(\w+))?$/.exec(unit) ?? [];
          const file = `etc/systemd/system/${instance === undefined ? name : `${name}@`}.service`;
          const credentials = join(root, "run", unit);
          await mkdir(credentials, { recursive: true });
          return readUnit(await readHere(file), { i: instance ?? "", j: name.split("-").at(-1) ?? "", d: credentials });
        }
      }
    }

    const server = use(
      await openHttpServer(async (request, response) => {
        const words = (await text(request)).split(" ");
        await systemctl(words).then(
          () => response.end(),
          (error: Error) => response.writeHead(500).end(`${error.message}\n`),
        );
      }),
    );
    const programs = {
      useradd: "",
      systemctl: `exec curl --silent --show-error --fail-with-body --data "$*" ${server.url}`,
    };
    for (const [name, commands] of Object.entries(programs)) {
      await writeFile(join(root, "bin", name), `#!/bin/sh\n${commands}\n`);
      await chmod(join(root, "bin", name), 0o755);
    }
    const env = {
      PATH: [join(root, "bin"), join(root, "usr/local/sbin"), postgresPath].join(":"),
      HOME: join(root, "home"),
      ADMINISTRATOR_URL: administratorUrl("postgres"),
      PETSTORE_ADMINISTRATOR_URL: administratorUrl("petstore"),
    };
    const sh = async (commands: string) => (await run("sh", ["-euc", here(commands)], { env, cwd: clone })).stdout;
    return {
      here,
      sh,
      follow: async (mark) => sh(await markedCommands("tools/deploy/operations.md", mark)),
      running,
      exits,
    };
  });
}

/** Three digits that begin the four ports of the processes. With a 1 before them, they begin those of the metrics. */
async function choosePrefix(): Promise<string> {
  // At random: tests of two clones can run at the same time.
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const prefix = randomInt(200, 1_000);
    const ports = [1, 2, 3, 4].flatMap((digit) => [Number(`${prefix}${digit}`), Number(`1${prefix}${digit}`)]);
    const found = await Promise.all(ports.map((port) => choosePort(port)));
    if (found.every((port, index) => port === ports[index])) return `${prefix}`;
  }
  throw new Error("no eight ports are free");
}

/** Reads what these units use of the language of systemd, and makes the credentials. */
async function readUnit(unit: string, specifiers: Readonly<Record<string, string>>): Promise<Command> {
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) =>
      value.replaceAll(/%(.)/g, (_, letter: string) => specifiers[letter] ?? `no specifier ${letter}`),
    );
  for (const credential of values("LoadCredential")) {
    const [name = "", path = ""] = credential.split(":");
    await copyFile(path, join(specifiers.d ?? "", name));
  }
  const settings = await Promise.all(values("EnvironmentFile").map((path) => readFile(path, "utf8")));
  const variables = [...values("Environment").flatMap((words) => words.split(" ")), ...settings].join("\n");
  const [command = "", ...args] = values("ExecStart").join().split(" ");
  return { command, args, environment: readVariables(variables), isOneshot: values("Type").includes("oneshot") };
}

/** A later variable replaces an earlier one. */
function readVariables(lines: string): Record<string, string> {
  const found = [...lines.matchAll(/^([A-Z_]+)=(?:"(.*)"|(.*))$/gm)];
  return Object.fromEntries(found.map(([, name = "", quoted, plain = ""]) => [name, quoted ?? plain]));
}
