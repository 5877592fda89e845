/** Headers that belong to the connection or are counted from the body. */
const own = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** @throws Error for a header that cannot be sent. */
export function requireHeaderValue(name: string, value: string): void {
  if (own.has(name.toLowerCase())) {
    throw new Error(`the header ${name} is set by the connection itself. Leave it out.`);
  }
  const [wrong] = /[^\t\x20-\x7E\x80-\xFF]/u.exec(value) ?? [];
  if (wrong === undefined) return;
  throw new Error(
    `the header ${name} holds ${JSON.stringify(wrong)}, which no header may hold. Write it in ASCII, as by percent-encoding.`,
  );
}
