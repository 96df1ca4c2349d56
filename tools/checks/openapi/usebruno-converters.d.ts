// @usebruno/converters has no types of its own.
declare module "@usebruno/converters" {
  /** Returns a Bruno collection of an OpenAPI document. */
  export function openApiToBruno(document: object): unknown;
  /** Returns a Bruno collection of a collection of Postman. */
  export function postmanToBruno(collection: object): Promise<{ readonly collection: unknown }>;
}
