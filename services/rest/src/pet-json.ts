import type { Pet } from "@petstore/core";

/** The contract's Animal as JSON text. Integers are written digit for digit, which `JSON.stringify` cannot do. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}

let last: { readonly pets: readonly Pet[]; readonly text: string } | undefined;

/** Those who ask for the same at one time get the same array, one after the other: it is written down once. */
export function petsJson(pets: readonly Pet[]): string {
  if (last?.pets !== pets) last = { pets, text: `[${pets.map(petJson).join()}]` };
  return last.text;
}
