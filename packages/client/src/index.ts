export { createPetStoreClient, type PetStoreClient, type PetStoreClientOptions } from "./client.js";
export type { Int64, NewPet, Pet, PetStatus } from "./pet.js";
export {
  ApiKeyBannedError,
  type ClientErrorCode,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
  type ServiceErrorCode,
  serviceErrorCodes,
} from "./pet-store-error.js";
export type { CallOptions, CreateOptions, ListAllOptions, ListOptions, PetPage, Pets } from "./pets.js";
export type { Fetch } from "./request-sender.js";
