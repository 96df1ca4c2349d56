// The part of Bottleneck 2.19.5 that the client uses. Bottleneck has types only for its full build.
declare module "bottleneck/light.js" {
  class Bottleneck {
    constructor(options: { readonly maxConcurrent: number; readonly reservoir: number; readonly minTime: number });
    on(event: "error", listener: (error: unknown) => void): this;
    schedule<T>(options: { readonly id: string }, job: () => Promise<T>): Promise<T>;
    updateSettings(options: { readonly reservoir: number }): Promise<unknown>;
  }
  export = Bottleneck;
}
