// An owner that a test kills. It opens the directory, prints the outcome as a line of JSON and, with "insert", another line
// for every row that the server has acknowledged. Disposes when its standard input ends.
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import pg from "pg";

const [directory, task] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const opened = await openEmbeddedPostgres({ directory });
if (opened.kind === "in-use") {
  say(opened);
} else {
  say({ kind: opened.kind, adopted: opened.adopted, url: opened.database.url });
  if (task === "insert") await insertForever(opened.database.ownerUrl);
  process.stdin.resume().once("end", async () => {
    await opened.database[Symbol.asyncDispose]();
    say({ kind: "disposed" });
  });
}

async function insertForever(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE IF NOT EXISTS written (id int PRIMARY KEY)");
  const { rows } = await client.query("SELECT coalesce(max(id), 0) AS last FROM written");
  for (let id = rows[0].last + 1; ; id += 1) {
    await client.query("INSERT INTO written VALUES ($1)", [id]);
    say({ acknowledged: id });
  }
}
