import type { Form, Holder, KeyStyle } from '../generator/form.ts';

/** What an error says about the holder that was met. */
const met: readonly (readonly [RegExp, Holder])[] = [
  [/'function' object is not subscriptable/, 'function'],
  [/list indices must be/, 'pairs'],
  [/string indices must be/, 'text'],
  [/SimpleNamespace' object is not subscriptable/, 'object'],
  [/'dict' object is not callable/, 'dict'],
  [/'list' object is not callable/, 'pairs'],
  [/'str' object is not callable/, 'text'],
  [/SimpleNamespace' object is not callable/, 'object'],
];

/** What is tried when a name was not there. */
const nextStyle: Readonly<Partial<Record<KeyStyle, KeyStyle>>> = { same: 'lower', lower: 'upper' };

/** The form to try next, after what a look-up by a form printed; `undefined` for one who does not know. */
export function repaired(tried: Form, printed: string): Form | undefined {
  const holder = met.find(([pattern]) => pattern.test(printed))?.[1];
  if (holder !== undefined) return { ...tried, holder };
  const keys = nextStyle[tried.keys];
  const isMissing = /KeyError|AttributeError/.test(printed);
  return isMissing && keys !== undefined ? { ...tried, keys } : undefined;
}
