import { DatabaseError } from "pg";
import { expect, it } from "vitest";
import { asProblem, DatabaseTimeout } from "./database-errors.js";

const problems = {
  unavailable: { code: "SERVICE_UNAVAILABLE", message: "The database is unavailable; try again shortly." },
  late: { code: "SERVICE_UNAVAILABLE", message: "The database did not answer in time; try again shortly." },
  internal: { code: "INTERNAL_ERROR" },
};

it.each([
  ["a connection lost", "unavailable", databaseError("08006")],
  ["a prepared statement that a pooler removed", "unavailable", databaseError("26000")],
  ["a password that was changed", "unavailable", databaseError("28P01")],
  ["a database that is being restored", "unavailable", databaseError("3D000")],
  ["too many connections", "unavailable", databaseError("53300")],
  ["a database that takes no connections", "unavailable", databaseError("55000")],
  ["a backend terminated", "unavailable", databaseError("57P01")],
  ["a server starting up", "unavailable", databaseError("57P03")],
  ["a plan prepared before a migration", "unavailable", databaseError("0A000")],
  ["a connection refused", "unavailable", new Error("refused")],
  ["a statement cut off at its limit", "late", databaseError("57014")],
  ["a lock that was not free in time", "late", databaseError("55P03")],
  ["a silent server", "late", new DatabaseTimeout("no answer")],
  ["an unknown table", "internal", databaseError("42P01")],
  ["a violated check", "internal", databaseError("23514")],
] as const)("%s is reported as %s", (_, problem, error) => {
  expect(asProblem(error)).toMatchObject({ ...problems[problem], cause: error });
});

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError("", 0, "error"), { code });
}
