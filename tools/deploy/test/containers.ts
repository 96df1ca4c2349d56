// The compose files, their secrets, and their containers as processes of this machine.
import { chmod, copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { serverUser } from "@petstore/harness/postgres";
import {
  markedCommands,
  openTemporaryDirectory,
  openTogether,
  type Program,
  startProgram,
  type TemporaryDirectory,
} from "@petstore/harness/processes";
import { parse } from "yaml";
import { folder, read, run } from "./commands.js";

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: { readonly services: { readonly ipam: { readonly config: readonly { subnet: string }[] } } };
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
}

interface Service {
  readonly image?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[] | string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
}

export async function readCompose(file: string): Promise<Compose> {
  return parse(await read(file), { merge: true });
}

/** Runs the commands of the guide in a new folder. Returns the folder that compose.yaml calls `./secrets`. */
export async function makeSecrets(): Promise<TemporaryDirectory> {
  const code = await markedCommands("tools/deploy/operations.md", "secrets");
  const directory = await openTemporaryDirectory();
  const atHome = code.replaceAll("make-secrets.sh", join(folder, "make-secrets.sh"));
  await run("sh", ["-euc", atHome], { cwd: directory.path });
  return { ...directory, path: join(directory.path, "secrets") };
}

/** Texts of a file, with the addresses, ports and folders of this machine that replace them. */
type Replacements = readonly (readonly [text: string | RegExp, here: string])[];

interface ContainerOptions {
  readonly file: "compose.override.yaml" | "compose.ha.yaml";
  readonly name: string;
  /** A folder with all secrets. */
  readonly secrets: string;
  /** A folder that the user of the servers can read. Gets the secrets, the mounted files and the data of the container. */
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly replacements: Replacements;
}

/** Starts the command of a container in the folder `data` of the directory. */
export async function startContainer(options: ContainerOptions): Promise<Program> {
  const { name, directory } = options;
  const [common, compose] = [await readCompose("compose.yaml"), await readCompose(options.file)];
  const secretFiles = { ...common.secrets, ...compose.secrets };
  const { entrypoint = [], command = [], environment = {}, secrets = [], volumes = [] } = compose.services[name] ?? {};
  const adapt = (text: string) =>
    replaceIn(text, options.replacements)
      .replaceAll(/\/run\/secrets\/|\/etc\/(?:petstore|roles)\//g, `${directory}/`)
      .replaceAll("$$", () => "$");
  const data = join(directory, "data");
  await mkdir(data, { recursive: true });
  await chmod(data, 0o777);
  for (const secret of secrets) {
    await copyFile(join(options.secrets, basename(secretFiles[secret]?.file ?? "missing")), join(directory, secret));
  }
  for (const [, mounted = ""] of volumes.flatMap((volume) => [...volume.matchAll(/^(\.\/\w+):/g)])) {
    for (const file of await readdir(join(folder, mounted))) {
      const text = await read(join(mounted, file));
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

/** Starts HAProxy with a configuration of this package. A warning about it is an error. */
export function startHaproxy(
  file: string,
  replacements: Replacements,
  environment: Readonly<Record<string, string>> = {},
): Promise<Program> {
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
    const configuration = join(directory.path, "haproxy.cfg");
    await writeFile(configuration, replaceIn(await read(file), replacements));
    const args = ["-db", "-q", "-dW", "-f", configuration];
    return use(startProgram({ name: "HAProxy", command: "haproxy", args, environment }));
  });
}

function replaceIn(text: string, replacements: Replacements): string {
  return replacements.reduce((adapted, [there, here]) => adapted.replaceAll(there, here), text);
}
