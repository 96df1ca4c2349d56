// `npm start` installs and builds if anything changed, and then serves. The service runs in this process, so that a signal
// to this process reaches the service.
import { readFileSync } from "node:fs";
import { buildIfChanged } from "./build.mjs";
import { readOptions, setEnvironment } from "./settings.mjs";
import { stopWithNpm } from "./stop-with-npm.mjs";

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

// A closed output must not end the store.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
refuseOldNode();
const options = readOptions("npm start");
stopWithNpm();
buildIfChanged();
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

/** This file and its imports must load in Node.js 18, so that this message appears. */
function refuseOldNode() {
  const version = process.versions.node;
  const majorOf = (numbers) => numbers.split(".")[0];
  // Each range is `^` or `>=`, and the oldest version.
  const ranges = engines.node.split(" || ").map((range) => {
    const [, operator, oldest] = /^(\^|>=)(.+)$/.exec(range);
    return { isOneMajor: operator === "^", oldest };
  });
  const isSupported = ranges.some(
    ({ isOneMajor, oldest }) =>
      version.localeCompare(oldest, "en", { numeric: true }) >= 0 &&
      !(isOneMajor && majorOf(version) !== majorOf(oldest)),
  );
  if (isSupported) return;
  const texts = ranges.map(({ isOneMajor, oldest }) =>
    isOneMajor ? `${majorOf(oldest)} from ${oldest}` : `${oldest} or later`,
  );
  process.stderr.write(`The pet store needs Node.js ${texts.join(", or ")}. This is ${version}.\n`);
  process.exit(1);
}
