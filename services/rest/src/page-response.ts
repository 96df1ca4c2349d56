import { createHash } from "node:crypto";
import type { Pet, PetPage } from "@petstore/core";
import { sendJson } from "@petstore/http";
import type { Request, Response } from "express";

interface PageText {
  readonly text: string;
  /** Absent for a page that can change at any moment. */
  readonly etag: string | undefined;
}

/**
 * Returns a function that sends a page. The text of a settled page and its ETag are made once: core keeps the page for some
 * seconds, and the text lives as long as the page. A client may store a settled page if it asks each time whether the page
 * has changed (RFC 9111 section 5.2.2.4), and then gets 304.
 */
export function createSendPage(petJson: (pet: Pet) => string): (req: Request, res: Response, page: PetPage) => void {
  const texts = new WeakMap<PetPage, PageText>();

  function textOf(page: PetPage): PageText {
    const made = texts.get(page);
    if (made !== undefined) return made;
    const text = `[${page.pets.map(petJson).join()}]`;
    if (!page.isSettled) return { text, etag: undefined };
    // Of the text alone, so that all instances send the same ETag.
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
    texts.set(page, { text, etag });
    return { text, etag };
  }

  return (req, res, page) => {
    const { text, etag } = textOf(page);
    if (etag !== undefined) {
      res.setHeader("Cache-Control", "private, no-cache");
      res.setHeader("ETag", etag);
      if (req.fresh) {
        res.statusCode = 304;
        res.end();
        return;
      }
    }
    sendJson(res, 200, text);
  };
}
