export type { Project } from "./project.js";
export { runProject } from "./run-project.js";
