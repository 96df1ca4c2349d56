// The compose files, their secrets, their containers as processes of this machine, and the names of these.
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serverUser } from "@petstore/harness/postgres";
import {
  markedCommands,
  openTemporaryDirectory,
  type Program,
  startProgram,
  type TemporaryDirectory,
} from "@petstore/harness/processes";
import { decode, encode, RECURSION_AVAILABLE, RECURSION_DESIRED } from "dns-packet";
import { parse } from "yaml";

const folder = fileURLToPath(new URL("../", import.meta.url));

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: { readonly services: { readonly ipam: { readonly config: readonly { subnet: string }[] } } };
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

interface Service {
  readonly image: string;
  readonly build?: string | { readonly target: string };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[] | string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
}

/** Reads compose.yaml together with another file. */
export async function readCompose(file: string): Promise<Compose> {
  const texts = await Promise.all(["compose.yaml", file].map((name) => readFile(join(folder, name), "utf8")));
  return texts.map((text) => parse(text, { merge: true })).reduce(merge) as Compose;
}

/** As docker-compose does: lists are joined, and other values of the second file replace those of the first. */
function merge(first: unknown, second: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
  if (!isMapping(first) || !isMapping(second)) return second;
  const added = Object.entries(second).map(([name, value]) => [
    name,
    name in first ? merge(first[name], value) : value,
  ]);
  return { ...first, ...Object.fromEntries(added) };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Runs the commands of the guide in a new folder. Returns the folder that compose.yaml calls `./secrets`. */
export async function makeSecrets(): Promise<TemporaryDirectory> {
  const code = await markedCommands("tools/deploy/operations.md", "secrets");
  const directory = await openTemporaryDirectory();
  const atHome = code.replaceAll("make-secrets.sh", join(folder, "make-secrets.sh"));
  await promisify(execFile)("sh", ["-euc", atHome], { cwd: directory.path });
  return { ...directory, path: join(directory.path, "secrets") };
}

interface ContainerOptions {
  /** Together with compose.yaml. */
  readonly file: "compose.override.yaml" | "compose.ha.yaml";
  readonly name: string;
  /** A folder with all secrets. */
  readonly secrets: string;
  /** A folder that the user of the servers can read. Gets the secrets, the mounted files and the data of the container. */
  readonly directory: string;
  /** Also PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Texts of the container, with the addresses, ports and folders of this machine that replace them. */
  readonly replacements: readonly (readonly [text: string | RegExp, here: string])[];
}

/** Starts the command of a container in the folder `data` of the directory. */
export async function startContainer(options: ContainerOptions): Promise<Program> {
  const { name, directory } = options;
  const compose = await readCompose(options.file);
  const { entrypoint = [], command = [], environment = {}, secrets = [], volumes = [] } = compose.services[name] ?? {};
  const adapt = (text: string) =>
    options.replacements
      .reduce((adapted, [there, here]) => adapted.replaceAll(there, here), text)
      .replaceAll(/\/run\/secrets\/|\/etc\/(?:petstore|roles)\//g, `${directory}/`)
      .replaceAll("$$", () => "$");
  const data = join(directory, "data");
  await mkdir(data, { recursive: true });
  await chmod(data, 0o777);
  for (const secret of secrets) {
    await copyFile(
      join(options.secrets, basename(compose.secrets[secret]?.file ?? "missing")),
      join(directory, secret),
    );
  }
  for (const [, mounted = ""] of volumes.flatMap((volume) => [...volume.matchAll(/^(\.\/\w+):/g)])) {
    for (const file of await readdir(join(folder, mounted))) {
      const text = await readFile(join(folder, mounted, file), "utf8");
      await writeFile(join(directory, file), adapt(text), { mode: 0o755 });
    }
  }
  const words = typeof command === "string" ? command.split(" ") : [...entrypoint, ...command];
  const [program = "", ...args] = words.map(adapt);
  return startProgram({
    name,
    command: program,
    args,
    environment: {
      ...Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, adapt(value)])),
      ...options.environment,
    },
    directory: data,
    user: serverUser,
  });
}

/** Starts HAProxy with a configuration of this package. */
export function startHaproxy(file: string, environment: Readonly<Record<string, string>>): Program {
  const args = ["-db", "-q", "-dW", "-f", join(folder, file)];
  return startProgram({ name: "HAProxy", command: "haproxy", args, environment });
}

/** Replaces the DNS of Docker. Knows only the IPv4 addresses of these names. */
export async function answerNames(addresses: Readonly<Record<string, readonly string[]>>): Promise<Names> {
  const socket = createSocket("udp4");
  socket.on("message", (message, sender) => {
    const { id = 0, questions = [] } = decode(message);
    const answers = questions.flatMap(({ name, type }) =>
      type === "A" ? (addresses[name] ?? []).map((data) => ({ name, type, data, ttl: 1 })) : [],
    );
    const isUnknown = questions.some(({ name }) => addresses[name] === undefined);
    const flags = RECURSION_DESIRED | RECURSION_AVAILABLE | (isUnknown ? noSuchName : 0);
    socket.send(encode({ type: "response", id, flags, questions, answers }), sender.port, sender.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

/** The response code NXDOMAIN. */
const noSuchName = 3;

interface Names extends AsyncDisposable {
  readonly address: string;
}

/** Everything that a server on this machine answers until it closes the connection. */
export async function askOverTls(options: ConnectionOptions, text: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", ...options });
  socket.write(text);
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) answer += chunk;
  return answer;
}
