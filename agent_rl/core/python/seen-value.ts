export type Fields = Readonly<Record<string, unknown>>;

const mostShown = 80;

/** A value in a message, cut: it may be anything at all. */
export function seen(value: unknown): string {
  if (typeof value === 'string') {
    const text = JSON.stringify(value.slice(0, mostShown));
    return value.length > mostShown ? `${text}…` : text;
  }
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** An object made by braces or JSON, in whichever realm; neither a list nor an object of a class. */
export function isPlainObject(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
