import { demoAccountName } from "./demo-account.js";

export interface BannerOptions {
  readonly url: string;
  readonly dataDirectory: string;
  /** Present on the first start only. */
  readonly demoKey: string | undefined;
}

/** What a person sees when the store is ready: where it is, and lines that work when pasted. */
export function banner({ url, dataDirectory, demoKey }: BannerOptions): string {
  return demoKey === undefined
    ? `
The pet store is ready at ${url}/v1, and for GraphQL at ${url}/graphql
Read and try both at ${url}/
Its data is in ${dataDirectory}

The key of the demo account was shown at the first start. For another one:

  npm run petstore -- key issue ${demoAccountName}
`
    : `
The pet store is ready at ${url}/v1, and for GraphQL at ${url}/graphql
Read and try both at ${url}/
Its data is in ${dataDirectory}

This is the key of the account "${demoAccountName}", plan Free. It is shown only now:

  ${demoKey}

Add a pet, and list them:

  curl -H "Authorization: Bearer ${demoKey}" -H "Content-Type: application/json" \\
       -d '{"name": "Rex", "categoryId": 1}' ${url}/v1/pets

  curl -i -H "Authorization: Bearer ${demoKey}" ${url}/v1/pets

  curl -i -H "Authorization: Bearer ${demoKey}" -H "Content-Type: application/json" \\
       -d '{"query": "{ pets { id name categoryId status } }"}' ${url}/graphql
`;
}
