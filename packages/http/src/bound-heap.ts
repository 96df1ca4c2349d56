import { setFlagsFromString } from "node:v8";

/**
 * V8 lets the heap grow to several times what is alive before it collects all of it; a service has neighbours that want
 * the memory. From here on it grows by so many percent: decision 0014 says what that saves, and costs.
 */
export function boundHeap(): void {
  setFlagsFromString("--heap-growing-percent=100");
}
