// @usebruno/converters has no types of its own. These describe the parts of a collection that the tests read.
declare module "@usebruno/converters" {
  export interface BrunoItem {
    readonly name: string;
    readonly items?: readonly BrunoItem[];
    readonly request?: {
      readonly method: string;
      readonly url: string;
      readonly headers: readonly BrunoField[];
      readonly params: readonly (BrunoField & { readonly type: string })[];
      readonly body: { readonly json: string | null };
    };
  }

  export interface BrunoField {
    readonly name: string;
    readonly value: string;
    readonly enabled: boolean;
  }

  export interface BrunoCollection extends BrunoItem {
    readonly environments: readonly [{ readonly variables: readonly BrunoField[] }];
  }

  export function openApiToBruno(document: unknown): BrunoCollection;
  export function postmanToBruno(collection: unknown): Promise<{ readonly collection: BrunoItem }>;
}
