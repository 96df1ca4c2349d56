import { LRUCache } from "lru-cache";

/**
 * The entries used last, so many of them at most. `max` would take the memory for all of them at once, which for a limit
 * that only an attack reaches is megabytes that nobody uses.
 */
export function createLruCache<Value extends object | number>(
  capacity: number,
  dispose?: (value: Value, key: string) => void,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: capacity, sizeCalculation: () => 1, ...(dispose && { dispose }) });
}
