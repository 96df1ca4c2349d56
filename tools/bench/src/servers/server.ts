import { choosePort } from "@petstore/embedded-postgres";
import { openTogether, startProgram } from "@petstore/harness/processes";
import type { ProbeQuestion, Usage } from "./probe.js";
import { builtFile, type ServerProgram } from "./server-programs.js";

/** A server in a process of its own. Disposing stops it. */
export interface Server extends AsyncDisposable {
  readonly name: string;
  readonly origin: string;
  usage(): Promise<Usage>;
  usageAfterCollection(): Promise<Usage>;
}

export interface ServerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The file descriptor of its standard output. A pipe would cost the time of a reader. */
  readonly stdout?: number;
}

/** Resolves when the server answers HTTP. */
export async function openServer(
  { name, main, nodeOptions = [], ...program }: Omit<ServerProgram, "requests" | "takesKey">,
  { environment, ...options }: ServerOptions = {},
): Promise<Server> {
  const port = `${await choosePort(undefined)}`;
  const origin = `http://127.0.0.1:${port}`;
  return openTogether(async (use) => {
    const running = use(
      startProgram({
        ...options,
        name,
        args: [...nodeOptions, "--expose-gc", "--import", builtFile("servers/probe.js").href, main.pathname],
        environment: { NODE_ENV: "production", PORT: port, ...program.environment, ...environment },
        hasChannel: true,
      }),
    );
    await running.until(() => fetch(origin).then(Boolean, () => false));
    const ask = async (question: ProbeQuestion) => (await running.ask(question)) as Usage;
    return { name, origin, usage: () => ask("usage"), usageAfterCollection: () => ask("usage after garbage collection") };
  });
}
