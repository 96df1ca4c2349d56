// An owner that a test kills. It opens the directory and prints the outcome as a line of JSON. It disposes when its standard
// input ends.
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const opened = await openEmbeddedPostgres(process.argv[2]);
if (opened.kind === "in-use") {
  say(opened);
} else {
  say({ kind: opened.kind, url: opened.database.url });
  process.stdin.resume().once("end", async () => {
    await opened.database[Symbol.asyncDispose]();
    say({ kind: "disposed" });
  });
}
