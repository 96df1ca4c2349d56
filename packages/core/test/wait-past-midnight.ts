import { waitPastMidnight } from "@petstore/harness/wait-past-midnight";

/** Longer than the tests take. Some of them count the units of one day by the clock of Redis. */
export const setup = (): Promise<void> => waitPastMidnight(4 * 60_000);
