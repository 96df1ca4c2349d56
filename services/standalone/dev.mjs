// `npm run dev`: serves the store from a build that follows the sources. A saved change is compiled and served within about
// two seconds; a change that does not compile is reported, and the last good build goes on serving.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const compiler = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

const programs = [
  start(compiler, "--build", "--watch", "--preserveWatchOutput", folder),
  start("--watch", "--watch-preserve-output", "--disallow-code-generation-from-strings", `${folder}dist/main.js`),
];
const exits = programs.map((program) => once(program, "exit"));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
// Neither is useful without the other.
await Promise.race(exits);
stop();
await Promise.all(exits);

/** In a process group of its own, because the compiler leaves the work to a child process that outlives it. */
function start(...nodeArguments) {
  return spawn(process.execPath, nodeArguments, { stdio: "inherit", detached: process.platform !== "win32" });
}

function stop() {
  for (const program of programs) {
    // The compiler takes up to minutes to end at SIGTERM, and nothing of it has to be closed.
    const signal = program === programs[0] ? "SIGKILL" : "SIGTERM";
    if (process.platform === "win32") program.kill();
    else if (program.exitCode === null && program.signalCode === null) process.kill(-program.pid, signal);
  }
}
