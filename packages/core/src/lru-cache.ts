import { LRUCache } from "lru-cache";

/** Without the option `max`: it allocates the memory for all entries at once, although only an attack reaches the limit. */
export function createLruCache<Value extends object | number>(capacity: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: capacity, sizeCalculation: () => 1 });
}
