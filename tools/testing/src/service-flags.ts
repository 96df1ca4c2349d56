/** The Node options that every service is started with, as in its `start` script: code cannot be made from text. */
export const serviceFlags: readonly string[] = ["--disallow-code-generation-from-strings"];
