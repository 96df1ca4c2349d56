/** The requests that cost most for one unit. `document-costs` and `dearest-body` print the price of each. */
import { dearDocuments, dearValues, type Hostile, hostileDocuments } from "@petstore/harness/responses";

/** To read, to refuse, and to validate. */
const dearestToRead = [
  "a block string of 1,990 lines",
  "a string of 16,000 emoji",
  "60,000 commas",
  "99 duplicate connections",
  "39 fragments in a circle",
  "240 inline fragments",
  "500 duplicate fields",
  "120 variables",
];
/** To execute, with the largest pets. */
const dearestToExecute = [
  "a list of 100 pets, each pet with 3 names more",
  "a connection of 100 pets, with everything in it, and its edges 0 times more",
];
const dearestToParse = ["980 long unknown names", "32,000 nested arrays", "980 long integers", "a string of escapes"];

export const documentsToRead: readonly Hostile[] = dearestToRead.map(documentIn(hostileDocuments));
export const documentsToExecute: readonly Hostile[] = dearestToExecute.map(documentIn(dearDocuments));
/** JSON values in place of a new pet. */
export const valuesToParse: readonly string[] = dearestToParse.map((name) => existing(name, dearValues[name]));

/** A statement. The first pages of the list then have the largest answers. It must run before a service creates pets. */
export const addLargestPets =
  "insert into pets (name, category_id, status) select repeat('🐈', 255), 1, 'available' from generate_series(1, 100)";

function documentIn(documents: readonly Hostile[]): (name: string) => Hostile {
  return (name) =>
    existing(
      name,
      documents.find((document) => document.name === name),
    );
}

function existing<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw new Error(`nothing has the name ${name}`);
  return value;
}
