import { runProject } from "@petstore/harness/projects";
import { projects } from "./projects.js";

const [name = "", ...args] = process.argv.slice(2);
const project = projects[name];
if (project === undefined) throw new Error(`There is no project "${name}".`);
await runProject(name, project, args);
