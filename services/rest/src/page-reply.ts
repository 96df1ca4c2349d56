/** Makes the reply with the JSON and the ETag of a page. */
import { createHash } from "node:crypto";
import type { Pet, PetPage } from "@petstore/core";
import { jsonReply, type Reply } from "@petstore/http";

/**
 * Returns a function that makes the reply with a page. The text of a settled page and its ETag are made once: core keeps the
 * page for some seconds, and the text lives as long as the page. A client may store a settled page if it asks each time
 * whether the page has changed (RFC 9111 section 5.2.2.4), and then gets 304.
 */
export function createPageReply(petJson: (pet: Pet) => string): (page: PetPage) => Reply {
  const replies = new WeakMap<PetPage, Reply>();

  return (page) => {
    const made = replies.get(page);
    if (made !== undefined) return made;
    const text = `[${page.pets.map(petJson).join()}]`;
    if (!page.isSettled) return jsonReply(200, text);
    // Of the text alone, so that all instances send the same ETag.
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
    const reply = jsonReply(200, text, { "Cache-Control": "private, no-cache", ETag: etag });
    replies.set(page, reply);
    return reply;
  };
}
