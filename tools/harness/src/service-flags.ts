/**
 * The Node options that every service is started with, as in its `start` script and in the images. The first keeps text
 * from becoming code, the second bounds memory (decisions 0013 and 0014).
 */
export const serviceFlags: readonly string[] = ["--disallow-code-generation-from-strings", "--max-semi-space-size=16"];
