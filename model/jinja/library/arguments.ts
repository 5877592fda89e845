import { asIndex, refuseBeyondIndex } from '../values/sequences.ts';
import { typeOf, Undefined, type Value } from '../values/value.ts';

/** @throws TypeError for what is not text */
export function asText(value: Value | undefined, of: string): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`${of} takes a str, not ${typeOf(value ?? null)}`);
}

/** An argument that may be left out or None. */
export const asTextIfAny = (value: Value | undefined, of: string): string | undefined =>
  value === undefined || value === null ? undefined : asText(value, of);

/** An integer argument, cut to what JavaScript counts exactly. @throws TypeError for what is not an integer */
export function asCount(value: Value | undefined, byDefault: number, of: string): number {
  if (value === undefined) return byDefault;
  const index = asIndex(value);
  if (index !== undefined) {
    refuseBeyondIndex(index);
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    return Number(index > most ? most : index < -most ? -most : index);
  }
  throw new TypeError(
    value instanceof Undefined ? value.message : `${of} takes an int, not ${typeOf(value)}`,
  );
}
