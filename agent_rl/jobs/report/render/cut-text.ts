/** The beginning of a long text, with how much is missing. */
export function cutText(text: string, most: number): string {
  const left = text.length - most;
  return left <= 0
    ? text
    : `${text.slice(0, most)}… [${left.toLocaleString('en')} more characters left out]`;
}
