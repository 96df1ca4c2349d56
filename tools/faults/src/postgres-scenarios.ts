import { changeScenarios } from "./change-scenarios.js";
import { clockScenario } from "./clock-scenario.js";
import { createScenarios } from "./create-scenarios.js";
import { exhaustedScenarios } from "./exhausted-scenarios.js";
import { keyQueryScenarios } from "./key-query-scenarios.js";
import { migrationScenarios } from "./migration-scenarios.js";
import { pgbouncerScenarios } from "./pgbouncer-scenarios.js";
import { postgresAwayScenarios } from "./postgres-away-scenarios.js";
import { postgresSilentScenarios } from "./postgres-silent-scenarios.js";
import type { Scenario } from "./scenario.js";

/** Everything that the database, or what stands on it, has to survive. */
export const postgresScenarios: readonly Scenario[] = [
  ...postgresAwayScenarios,
  ...postgresSilentScenarios,
  ...exhaustedScenarios,
  ...pgbouncerScenarios,
  ...migrationScenarios,
  ...createScenarios,
  ...changeScenarios,
  ...keyQueryScenarios,
  clockScenario,
];
