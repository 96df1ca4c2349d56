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

/** Resolves when the server answers HTTP. Its output goes to a file, because a pipe would cost the time of a reader. */
export async function openServer(
  { name, main, nodeOptions = [], environment }: Omit<ServerProgram, "requests" | "takesKey">,
  stdout?: number,
): Promise<Server> {
  const port = `${await choosePort(undefined)}`;
  const origin = `http://127.0.0.1:${port}`;
  return openTogether(async (use) => {
    const program = use(
      startProgram({
        name,
        args: [...nodeOptions, "--expose-gc", "--import", builtFile("servers/probe.js").href, main.pathname],
        environment: { NODE_ENV: "production", PORT: port, ...environment },
        stdout,
        hasChannel: true,
      }),
    );
    await program.until(() => fetch(origin).then(Boolean, () => false));
    const ask = async (question: ProbeQuestion) => (await program.ask(question)) as Usage;
    return {
      name,
      origin,
      usage: () => ask("usage"),
      usageAfterCollection: () => ask("usage after garbage collection"),
    };
  });
}
