/** What one of each unit is in metres, grams or litres; pounds and pints are the American ones. */
export const kinds = {
  length: {
    inches: 0.0254,
    feet: 0.3048,
    yards: 0.9144,
    miles: 1609.344,
    cm: 0.01,
    metres: 1,
    km: 1000,
  },
  weight: { ounces: 28.349523125, pounds: 453.59237, grams: 1, kg: 1000 },
  volume: { cups: 0.2365882365, pints: 0.473176473, gallons: 3.785411784, litres: 1 },
} satisfies Record<string, Record<string, number>>;

export type Kind = keyof typeof kinds;

/** The kind of a unit, such as `length`; undefined for a unit that is not known. */
export const kindOf = (unit: string): Kind | undefined =>
  (Object.keys(kinds) as Kind[]).find((kind) => unit in kinds[kind]);

export const unitsOf = (kind: Kind): string[] => Object.keys(kinds[kind]);

/** A value in another unit, as text with four significant digits; undefined where the units do not fit together. */
export function convert(value: number, from: string, to: string): string | undefined {
  const kind = kindOf(from);
  if (kind === undefined || kindOf(to) !== kind) return undefined;
  const sizes: Record<string, number> = kinds[kind];
  const converted = (value * (sizes[from] ?? NaN)) / (sizes[to] ?? NaN);
  return String(Number(converted.toPrecision(4)));
}
