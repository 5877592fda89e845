import type { Budget } from '../budget.ts';
import { str } from '../values/printing.ts';
import { type Given, Unsupported, type Value } from '../values/value.ts';

/** Python's `text.format(…)` with plain fields: `{}`, `{0}` and `{name}`. @throws Unsupported for other fields */
export function formattedText(
  text: string,
  { positional, keywords }: Given,
  budget: Budget,
): string {
  let next = 0;
  let isNumbered: boolean | undefined;
  const fieldOf = (field: string): Value | undefined => {
    if (!/^\w*$/.test(field)) throw new Unsupported(`the format {${field}}`);
    if (field !== '' && !/^\d+$/.test(field)) return keywords.get(field);
    if (isNumbered !== undefined && isNumbered !== (field !== ''))
      throw new Error('cannot switch between automatic and manual field numbering');
    isNumbered = field !== '';
    return positional[isNumbered ? Number(field) : next++];
  };
  const written = text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field?: string) => {
    if (whole === '{{' || whole === '}}') return whole.charAt(0);
    if (field === undefined) throw new Error(`Single '${whole}' encountered in format string`);
    const value = fieldOf(field);
    if (value === undefined) throw new Error(`'${field}' of the format is not given`);
    return budget.joined(str(value, budget));
  });
  budget.text(written.length);
  return written;
}
