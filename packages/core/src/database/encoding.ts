/** With SQL_ASCII, PostgreSQL keeps the bytes of UTF-8 as they are. Every other encoding lacks most characters of Unicode. */
const encodings: readonly string[] = ["UTF8", "SQL_ASCII"];

/** For the operator: why the encoding of a database is not usable, and what to do. `undefined` if it can hold every name. */
export function explainEncoding(encoding: string): { readonly fault: string; readonly cure: string } | undefined {
  if (encodings.includes(encoding)) return undefined;
  return {
    fault: `The encoding of the database is ${encoding}, which cannot hold every name`,
    cure: "Create the database with createdb --encoding=UTF8 --locale=C --template=template0, and restore a dump into it if it has pets.",
  };
}
