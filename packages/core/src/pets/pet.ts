/** The contract's PetStatus: exactly these values. */
export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

/** The contract's Pet. Identifiers are int64 and therefore bigint: a number would round them. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** The contract's New pet, with the status it will be stored with. */
export type NewPet = Omit<Pet, "id">;
