// The form of the log: JSON for machines, and readable lines for a person at a terminal.
import { fileURLToPath } from "node:url";
import { describeWithProgram } from "@petstore/harness";
import { restMain, serviceFlags, startProgram, startService } from "@petstore/harness/processes";
import { expect, it } from "vitest";

/** No request here needs the database. */
const environment = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nowhere" };
const readable = /^\d\d:\d\d:\d\d INFO {2}GET \/v1\/pets 401 API_KEY_MISSING in [\d.]+ ms clientAddress=127\.0\.0\.1 /m;

it("each JSON line names the service, its version, the host and the process", async () => {
  await using rest = await startService({ environment });
  await fetch(`${rest.origin}/v1/pets`);
  const [line] = await rest.printed(/^.*"route":"\/v1\/pets".*$/m);
  expect(JSON.parse(line)).toMatchObject({
    service: "petstore-rest",
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    host: expect.any(String),
    pid: rest.pid,
    msg: "request completed",
  });
});

it("LOG_PRETTY prints one readable line per request", async () => {
  await using rest = await startService({ environment: { ...environment, LOG_PRETTY: "true" } });
  await fetch(`${rest.origin}/v1/pets`);
  await rest.printed(readable);
  expect(rest.output.join()).not.toContain('"level"');
});

describeWithProgram("script", "a service at a terminal", () => {
  it("prints readable lines", async () => {
    // util-linux's `script` opens the terminal.
    const command = [process.execPath, ...serviceFlags, fileURLToPath(restMain)].join(" ");
    await using program = startProgram({
      name: "script",
      command: "script",
      args: ["-qec", `exec ${command}`, "/dev/null"],
      environment: { PATH: process.env.PATH, PORT: "0", ...environment },
    });
    const [, origin = ""] = await program.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
    await fetch(`${origin}/v1/pets`);
    await program.printed(readable);
  });
});
