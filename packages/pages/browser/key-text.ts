/** What an API key is, in words. The usage page and this module's test share it. */
import { dateText } from "./moments.js";

/** As `GET /rate_limit` reports it. */
export interface KeyStatus {
  readonly key: {
    readonly prefix: string | null;
    readonly name: string | null;
    readonly scope: string;
    /** RFC 3339. */
    readonly expiresAt: string | null;
  };
  readonly account: { readonly name: string };
}

/** `Key pets_live_4fTq9ZbX, named website, of the account shop. It can list pets. It has no end.` */
export function describeKey({ key, account }: KeyStatus, localZone?: string): string {
  const { prefix, name, scope, expiresAt } = key;
  const named = name === null ? "" : `, named ${name},`;
  const end = expiresAt === null ? "It has no end." : `It ends on ${dateText(Date.parse(expiresAt), localZone)}.`;
  return `${prefix === null ? "A key" : `Key ${prefix}`}${named} of the account ${account.name}. ${abilities(scope)} ${end}`;
}

function abilities(scope: string): string {
  if (scope === "read") return "It can list pets.";
  if (scope === "write") return "It can add pets.";
  return "It can list and add pets.";
}
