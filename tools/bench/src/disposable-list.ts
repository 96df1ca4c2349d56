/** Disposing disposes of all items at once. */
export interface DisposableList<T extends AsyncDisposable> extends AsyncDisposable {
  readonly items: T[];
}

export function disposableList<T extends AsyncDisposable>(): DisposableList<T> {
  const items: T[] = [];
  return {
    items,
    async [Symbol.asyncDispose]() {
      await Promise.all(items.map((item) => item[Symbol.asyncDispose]()));
    },
  };
}
