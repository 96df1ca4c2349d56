import { afterAll } from "vitest";

/** Opens a resource that all tests of a file or a suite use. It is disposed after the last of them. */
export async function shared<Resource extends AsyncDisposable>(
  opening: Resource | Promise<Resource>,
): Promise<Resource> {
  const resource = await opening;
  afterAll(() => resource[Symbol.asyncDispose]());
  return resource;
}
