/** The root of the repository, for tests of the repository as a whole. The files of one package are its exports. */
export const repository: URL = new URL("../../../../", import.meta.url);
