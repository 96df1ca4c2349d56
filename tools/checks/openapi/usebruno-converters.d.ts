// @usebruno/converters has no types of its own.
declare module "@usebruno/converters" {
  export function openApiToBruno(document: object): unknown;
  export function postmanToBruno(collection: object): Promise<{ readonly collection: unknown }>;
}
