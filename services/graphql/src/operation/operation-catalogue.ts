/** The catalogue of one operation: completes pages in turns, and has the ticket confirmed before each create. */
import { type Catalogue, type Pet, type PetPage, Problem, type Ticket } from "@petstore/core";
import type { AccountTurns, HttpRequest } from "@petstore/http";

/** The catalogue of one operation, called by the holder of its ticket. */
export interface OperationCatalogue {
  list(input: unknown): Promise<PetPage>;
  listAsConnection(input: unknown): Promise<PetPage>;
  /**
   * Checks the key again before each create: the fields of a mutation run one after another, and the last can begin long after
   * the admission. All fields of a query begin at once, so they use the key as it was then.
   *
   * After a create has failed with SERVICE_UNAVAILABLE, the later ones fail with the same problem and are not tried: ten of them
   * would wait for ten timeouts.
   */
  create(pet: { readonly input: unknown; readonly idempotencyKey: unknown }): Promise<Pet>;
  /** The creates that have succeeded. `replayed`: an earlier request with the same idempotency key created the pet. */
  created(): readonly { readonly replayed: boolean }[];
}

/** A page of 100 pets takes up to 4 ms to complete, so two of them make a turn. */
const petsPerTurn = 200;
/** In memory, without its name. Measured, as in `kept-pages.ts` of core. */
const bytesPerPet = 130;
const bytesPerCharacter = 2;

/**
 * Pages are completed in turns of the account. PostgreSQL can send many pages at one moment. Without turns, graphql would
 * complete them and others would wait for all of them.
 */
export function createOperationCatalogue(
  catalogue: Catalogue,
  ticket: Ticket,
  turns: AccountTurns,
  response: HttpRequest["response"],
): OperationCatalogue {
  const { caller } = ticket;
  const created: { readonly replayed: boolean }[] = [];
  let outage: Problem | undefined;

  async function inTurn(reading: Promise<PetPage>): Promise<PetPage> {
    const page = await reading;
    const cost = page.pets.length / petsPerTurn;
    return turns.run({ accountId: caller.accountId, bytes: bytesOf(page), cost, response }, () => page);
  }

  return {
    list: (input) => inTurn(catalogue.list(caller, input)),
    listAsConnection: (input) => inTurn(catalogue.listAsConnection(caller, input)),
    async create({ input, idempotencyKey }) {
      if (outage !== undefined) throw outage;
      try {
        const result = await catalogue.create(await ticket.confirm(), { input, subject: "input", idempotencyKey });
        created.push(result);
        return result.pet;
      } catch (error) {
        const problem = Problem.from(error);
        if (problem.code === "SERVICE_UNAVAILABLE") outage = problem;
        throw problem;
      }
    },
    created: () => created,
  };
}

function bytesOf({ pets }: PetPage): number {
  return pets.reduce((bytes, { name }) => bytes + bytesPerPet + bytesPerCharacter * name.length, 0);
}
