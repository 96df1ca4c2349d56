/** Characters that end a line, or change the order in which a terminal shows the text after them. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** True if the text fits on a line of a table, and holds no API key by mistake. Names and actors are stored as they are. */
export function isShowable(text: string): boolean {
  return text.length <= 255 && !controls.test(text) && !/pets_(live|test)_[0-9A-Za-z]{32}/.test(text);
}
