// The passwords and certificates that the commands of the operations guide create.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { markedSnippet, openTemporaryDirectory, type TemporaryDirectory } from "@petstore/harness/processes";

const folder = fileURLToPath(new URL("../", import.meta.url));

/** Runs the commands of the guide in a new folder. Returns the folder that compose.yaml calls `./secrets`. */
export async function makeSecrets(): Promise<TemporaryDirectory> {
  const { code } = await markedSnippet("tools/deploy/operations.md", "secrets");
  const directory = await openTemporaryDirectory();
  const atHome = code.replaceAll("make-secrets.sh", join(folder, "make-secrets.sh"));
  await promisify(execFile)("sh", ["-euc", atHome], { cwd: directory.path });
  return { ...directory, path: join(directory.path, "secrets") };
}

/** Everything that a server on this machine answers until it closes the connection. */
export async function askOverTls(options: ConnectionOptions, text: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", ...options });
  socket.write(text);
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) answer += chunk;
  return answer;
}
