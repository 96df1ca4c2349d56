// `npm start` installs and builds what is missing, and then serves. The service runs in this process, so that a signal to this
// process reaches the service.
import { build } from "./build.mjs";
import { readOptions, setEnvironment } from "./settings.mjs";
import { stopWithNpm } from "./stop-with-npm.mjs";

// A closed output must not end the store.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
const options = readOptions("npm start");
stopWithNpm();
await build();
setEnvironment(options);
await import("./dist/main.js").catch(explainFileLimit);

/** If no file can be opened any more, Node.js says that a module does not exist. */
function explainFileLimit(error) {
  const { soft } = process.report.getReport().userLimits?.open_files ?? {};
  if (!(soft < 1_024)) throw error;
  const advice = `This user may open only ${soft} files, which is too few: run ulimit -n 4096 first.`;
  process.stderr.write(`The pet store cannot be loaded: ${error.message}\n${advice}\n`);
  process.exit(1);
}
