import { projects } from "./projects.js";
import { runCommandLine } from "./run.js";

await runCommandLine(projects, process.argv.slice(2));
