import { migrations } from "./migrations/migrations.js";

/** The migrations of this release, in order. */
export const migrationNames: readonly string[] = Object.keys(migrations);

/** How a database differs from what this release needs. */
export interface MigrationStatus {
  /** Not applied yet, in order. */
  readonly pending: readonly string[];
  /** Applied by a newer release. This release works with them, because migrations only add. */
  readonly unknown: readonly string[];
}

/** The names of the applied migrations, in a database that has any. */
export const selectAppliedMigrations = "select name from kysely_migration";

export function compareMigrations(applied: readonly { readonly name: string }[]): MigrationStatus {
  const names = applied.map(({ name }) => name);
  return {
    pending: migrationNames.filter((name) => !names.includes(name)),
    unknown: names.filter((name) => !migrationNames.includes(name)).sort(),
  };
}
