// An owner that a test kills. It opens the directory and sends the outcome. It disposes when it receives a message.
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";

const opened = await openEmbeddedPostgres(process.argv[2]);
if ("holderPid" in opened) {
  process.send(opened);
} else {
  process.send({ url: opened.url });
  process.once("message", async () => {
    await opened[Symbol.asyncDispose]();
    process.send({ isDisposed: true });
  });
}
