export { folderOf, isInstalled, missingPrograms, searchPath } from "./installed-program.js";
export type { Usage } from "./probe.js";
export { type Program, startProgram } from "./program.js";
export { repository } from "./repository.js";
export { openTemporaryDirectory, openTogether, type TemporaryDirectory, until } from "./resources.js";
export {
  probe,
  type Service,
  type ServiceOptions,
  serviceFlags,
  startService,
  startServiceProgram,
} from "./service.js";
export {
  anchorsOf,
  markedCommands,
  runCommands,
  runModule,
  runPython,
  type Snippet,
  snippetsOf,
} from "./snippets.js";
export {
  postmasterOf,
  type StandaloneStore,
  startStandaloneProgram,
  startStandaloneStore,
  startStandaloneStoreIn,
} from "./standalone-store.js";
