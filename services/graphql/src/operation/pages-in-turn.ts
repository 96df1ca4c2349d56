import type { Catalogue, PetPage } from "@petstore/core";
import type { AccountTurns, TurnRequest } from "@petstore/http";

/** A page of 100 pets takes up to 4 ms to complete, so two of them make a turn. */
const petsPerTurn = 200;
/** A pet with the longest name, in memory. */
const bytesPerPet = 1_200;

/**
 * The catalogue of one request, whose pages are completed in turns of the account. PostgreSQL can send many pages at one
 * moment. Without turns, graphql would complete them and others would wait for all of them.
 */
export function withPagesInTurn(
  catalogue: Catalogue,
  turns: AccountTurns,
  { accountId, response }: Pick<TurnRequest, "accountId" | "response">,
): Catalogue {
  const inTurn = async (reading: Promise<PetPage>): Promise<PetPage> => {
    const page = await reading;
    const { length } = page.pets;
    const request = { accountId, bytes: length * bytesPerPet, cost: length / petsPerTurn, response };
    return turns.run(request, () => page);
  };
  return {
    ...catalogue,
    list: (caller, input) => inTurn(catalogue.list(caller, input)),
    listAsConnection: (caller, input) => inTurn(catalogue.listAsConnection(caller, input)),
  };
}
