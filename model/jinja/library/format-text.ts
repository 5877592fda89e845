import type { Budget } from '../budget.ts';
import { fixed } from '../values/formatting.ts';
import { digitsOf, str } from '../values/printing.ts';
import { asIndex } from '../values/sequences.ts';
import { type Given, typeOf, Unsupported, type Value } from '../values/value.ts';

/** A field: its name or place, and how it is written. */
const fieldForm = /^(\w*)(?::(d|(?:\.(\d+))?f))?$/;

/**
 * Python's `text.format(…)` with the fields `{}`, `{0}` and `{name}`, and the forms `:d`, `:f` and `:.2f`.
 *
 * @throws Unsupported for other fields
 */
export function formattedText(
  text: string,
  { positional, keywords }: Given,
  budget: Budget,
): string {
  let next = 0;
  let isNumbered: boolean | undefined;
  const fieldOf = (field: string): Value | undefined => {
    if (field !== '' && !/^\d+$/.test(field)) return keywords.get(field);
    if (isNumbered !== undefined && isNumbered !== (field !== ''))
      throw new Error('cannot switch between automatic and manual field numbering');
    isNumbered = field !== '';
    return positional[isNumbered ? Number(field) : next++];
  };
  const written = text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field?: string) => {
    if (whole === '{{' || whole === '}}') return whole.charAt(0);
    if (field === undefined) throw new Error(`Single '${whole}' encountered in format string`);
    const [, name, form, places] = fieldForm.exec(field) ?? [];
    if (name === undefined) throw new Unsupported(`the format {${field}}`);
    const value = fieldOf(name);
    if (value === undefined) throw new Error(`'${field}' of the format is not given`);
    const shown =
      form === undefined ? str(value, budget) : numberAs(form, value, Number(places ?? 6), budget);
    budget.text(shown.length);
    return shown;
  });
  budget.text(written.length);
  return written;
}

function numberAs(form: string, value: Value, places: number, budget: Budget): string {
  if (form !== 'd') return fixed(value, places);
  const integer = asIndex(value);
  if (integer === undefined) throw new TypeError(`:d takes an int, not ${typeOf(value)}`);
  return digitsOf(integer, budget);
}
