/** A stretch of text, or of invisible or reordering characters, written out as escapes. */
export interface TextPart {
  text: string;
  /** Whether `text` stands for invisible characters. */
  escaped: boolean;
}

/*
 * Controls except the line feed and the tab; marks that change the direction of text; zero-width characters; tag
 * characters, which hide text in text; line separators; lone surrogates. Joiners stay: scripts and emoji need them.
 */
const unseen =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+|\p{Surrogate}+/gu;

/** Past this many stretches the rest becomes one, so that a text cannot create a million elements. */
const mostParts = 10_000;

/** Splits a text so that everything in it is visible: U+202E becomes the six characters `\u202e`. */
export function visibleText(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(unseen)) {
    if (parts.length >= mostParts) {
      parts.push({ text: escapeUnseen(text.slice(from)), escaped: false });
      return parts;
    }
    if (index > from) parts.push({ text: text.slice(from, index), escaped: false });
    parts.push({ text: escapeUnseen(found), escaped: true });
    from = index + found.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), escaped: false });
  return parts;
}

/** The same as a single string, for labels and titles. */
export const escapeUnseen = (text: string): string =>
  text.replaceAll(unseen, (found) => Array.from(found, escapeOf).join(''));

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x1_0000 ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}
