/** A text without an end that may be the beginning of one of some texts. */
export function withoutPartial(text: string, wholes: readonly string[]): string {
  const longest = wholes.reduce((most, { length }) => Math.max(most, length - 1), 0);
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    const begins = (whole: string): boolean => whole.length > length && whole.startsWith(end);
    if (wholes.some(begins)) return text.slice(0, -length);
  }
  return text;
}
