// What is used of Bottleneck 2.19.5, which types its full build alone.
declare module "bottleneck/light.js" {
  class Bottleneck {
    constructor(options: { readonly maxConcurrent: number; readonly reservoir: number });
    on(event: "error", listener: (error: unknown) => void): this;
    schedule<T>(options: { readonly id: string; readonly priority: number }, job: () => Promise<T>): Promise<T>;
    incrementReservoir(by: number): Promise<number>;
  }
  export = Bottleneck;
}
