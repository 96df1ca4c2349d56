// Writes and compares openapi.released.yaml. JavaScript, because `npm run release` imports it without a build.
import { parse, stringify } from "yaml";

const comment = `# The parts of the last release's OpenAPI document that later versions must not break.
# \`npm run release\` writes it.
`;
const textsForPeople = new Set(["description", "summary", "example", "examples"]);

/**
 * The paths and components of an OpenAPI document, without the texts for people.
 * @param {string} document in YAML or JSON
 * @returns {string} in YAML
 */
export function releasedDocument(document) {
  const { paths, components } = parse(document, { intAsBigInt: true });
  return comment + stringify(withoutTexts({ paths, components }), { lineWidth: 120 });
}

/** A property of a schema may have the name of such a text, so all properties stay. */
function withoutTexts(node, name) {
  if (Array.isArray(node)) return node.map((item) => withoutTexts(item));
  if (typeof node !== "object" || node === null) return node;
  const members = Object.entries(node).filter(([member]) => name === "properties" || !textsForPeople.has(member));
  return Object.fromEntries(members.map(([member, value]) => [member, withoutTexts(value, member)]));
}
