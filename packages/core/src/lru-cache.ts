import { LRUCache } from "lru-cache";

/**
 * Keeps the most recently used entries. The option `max` would allocate the memory for all entries at once: megabytes for
 * a limit that only an attack reaches.
 */
export function createLruCache<Value extends object | number>(capacity: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: capacity, sizeCalculation: () => 1 });
}
