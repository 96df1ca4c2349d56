// The settings of `npm start` and `npm run dev`: options come before environment variables, and these before the file `.env`.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const environmentFile = fileURLToPath(new URL("../../.env", import.meta.url));
const options = { port: { type: "string" }, host: { type: "string" }, help: { type: "boolean", short: "h" } };

/** Prints the help, or refuses unknown options, and ends the process. Otherwise returns the options. */
export function readOptions(command) {
  const usage = `Usage: ${command} -- [--port PORT] [--host HOST] [--help]\n`;
  try {
    const { values } = parseArgs({ options });
    if (!values.help) return values;
    process.stdout.write(`${usage}
Starts the pet store with a PostgreSQL of its own.

  --port PORT  the port to listen on, 3000 by default; 0 takes a free port
  --host HOST  the address to listen on, 127.0.0.1 by default

All other settings are environment variables, or lines of the file .env in the root of the repository:
PETSTORE_DIR is the folder of the data, .petstore by default, and packages/core/.env.example describes the others.
`);
  } catch (error) {
    // Without the advice of Node.js about arguments that begin with a dash.
    process.stderr.write(`${error.message.split(". ")[0]}.\n${usage}`);
    process.exit(2);
  }
  process.exit(0);
}

/** Call this after the installation, which must not see the settings of the store. */
export function setEnvironment({ port, host }) {
  if (port !== undefined) process.env.PORT = port;
  if (host !== undefined) process.env.HOST = host;
  if (existsSync(environmentFile)) process.loadEnvFile(environmentFile);
}
