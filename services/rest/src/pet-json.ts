import type { Pet } from "@petstore/core";

/** The contract's Pet as JSON text. Integers are written digit for digit, which `JSON.stringify` cannot do. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}

export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map(petJson).join()}]`;
}
