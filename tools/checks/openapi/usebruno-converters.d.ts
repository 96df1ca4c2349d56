// @usebruno/converters has no types of its own.
declare module "@usebruno/converters" {
  /** Returns a Bruno collection of an OpenAPI document. */
  export function openApiToBruno(document: object): unknown;
}
