/** Text of at most `maxChars` characters and, when some was left out, a line that says so. */
export function cutContent(content: string, maxChars: number): string {
  if (content.length <= maxChars) return content;
  // Half a surrogate pair is not a character: leave it out.
  const splitsPair = /[\uD800-\uDBFF]/.test(content.charAt(maxChars - 1));
  const shown = content.slice(0, splitsPair ? maxChars - 1 : maxChars);
  return `${shown}\n[cut: ${count(shown.length)} of ${count(content.length)} characters shown]`;
}

const count = (value: number): string => value.toLocaleString('en-US');
