import { LRUCache } from "lru-cache";

/** Sets `maxSize` and not `max`, because `max` allocates the memory for all entries at once. */
export function createLruCache<Value extends object | number>(capacity: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: capacity, sizeCalculation: () => 1 });
}
