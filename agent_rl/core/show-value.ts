/** A value as a message shows it: JSON, cut when long. */
export function showValue(value: unknown, mostChars = 80): string {
  const text = written(value);
  return text.length > mostChars ? `${text.slice(0, mostChars - 3)}...` : text;
}

function written(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  // JSON has neither infinities nor NaN, and would show null.
  if (typeof value === 'number' || typeof value === 'symbol') return String(value);
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    // A circle or a bigint: shown by what it is.
    return Object.prototype.toString.call(value);
  }
}
