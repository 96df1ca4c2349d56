// Prints how long `npm start` takes to its first answer: once with new data, then with the data of the start before.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const directory = await mkdtemp(join(tmpdir(), "petstore-start-"));
try {
  for (const name of ["new data", "warm", "warm", "warm"]) {
    process.stdout.write(`${name.padEnd(10)}${(await secondsToFirstAnswer()).toFixed(2)} s\n`);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}

async function secondsToFirstAnswer() {
  const port = await freePort();
  const startedAtMs = performance.now();
  const npm = spawn("npm", ["start"], {
    cwd: root,
    env: { ...process.env, PETSTORE_DIR: directory, PORT: `${port}` },
    stdio: ["ignore", "ignore", "inherit"],
    // A group of its own, so that the signal below reaches npm and the store, as Ctrl-C does.
    detached: true,
  });
  const ended = once(npm, "exit");
  while (npm.exitCode === null) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (response?.ok) break;
    await delay(5);
  }
  const seconds = (performance.now() - startedAtMs) / 1_000;
  if (npm.exitCode !== null) throw new Error("npm start ended without an answer");
  process.kill(-npm.pid, "SIGINT");
  await ended;
  return seconds;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
