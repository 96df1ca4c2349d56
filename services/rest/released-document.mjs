// For writing and comparing openapi.released.yaml. JavaScript, because `npm run release` imports it without a build.
import { parse, stringify } from "yaml";

const comment = `# The parts of the last release's OpenAPI document that later versions must not break.
# \`npm run release\` writes it. \`*same1\` repeats the value that \`&same1\` names.
`;
const textsForPeople = new Set(["description", "summary", "example", "examples"]);
/** Many responses have the same ones. */
const repeatedParts = new Set(["headers", "content"]);

/**
 * The paths and components of an OpenAPI document, without the texts for people.
 * @param {string} document in YAML or JSON
 * @returns {string} in YAML
 */
export function releasedDocument(document) {
  const { paths, components } = parse(document, { intAsBigInt: true });
  return comment + stringify(withoutTexts({ paths, components }, new Map()), { lineWidth: 120, anchorPrefix: "same" });
}

/**
 * A property of a schema may have the name of such a text, so all properties stay.
 * @param {Map<string, object>} parts the repeated parts until now: YAML writes the same object only once
 */
function withoutTexts(node, parts, name) {
  if (Array.isArray(node)) return node.map((item) => withoutTexts(item, parts));
  if (typeof node !== "object" || node === null) return node;
  const members = Object.entries(node).filter(([member]) => name === "properties" || !textsForPeople.has(member));
  const copy = Object.fromEntries(members.map(([member, value]) => [member, withoutTexts(value, parts, member)]));
  if (!repeatedParts.has(name)) return copy;
  const text = stringify(copy);
  if (!parts.has(text)) parts.set(text, copy);
  return parts.get(text);
}
