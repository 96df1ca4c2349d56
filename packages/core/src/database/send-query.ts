import { type ClientBase, Query } from "pg";

export interface PreparedQuery {
  /** Empty where nothing is to be prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * `client.query(config)`, without its copy of the configuration by property descriptors and its two further promises,
 * which cost more than the rest of a query's handling. pg calls back once: with the result, a failure or the timeout.
 */
export function sendQuery<Row>(client: ClientBase, { name, text, values }: PreparedQuery): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const query = new Query(text, values, (error, result) => (error ? reject(error) : resolve(result.rows)));
    client.query(Object.assign(query, { name }));
  });
}
