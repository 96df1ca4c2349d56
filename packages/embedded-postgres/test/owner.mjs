// An owner that a test kills. It opens the directory and prints the outcome as a line of JSON. It disposes when its standard
// input ends.
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const opened = await openEmbeddedPostgres(process.argv[2]);
if ("holderPid" in opened) {
  say(opened);
} else {
  say({ url: opened.url });
  process.stdin.resume().once("end", async () => {
    await opened[Symbol.asyncDispose]();
    say({ isDisposed: true });
  });
}
