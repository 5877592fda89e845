import { visibleControls } from '../../../telemetry/index.ts';

/** Markup, which only `markup` makes. */
export class Markup {
  constructor(readonly text: string) {}
}

type Value = string | number | Markup | readonly Markup[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is text between tags and in quoted attributes. */
const escaped = (text: string): string =>
  visibleControls(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);

/** HTML or SVG from a template: what is put in is escaped, unless it is markup already. */
export function markup(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const parts = values.map((value) => {
    if (value instanceof Markup) return value.text;
    if (typeof value === 'object') return value.map(({ text }) => text).join('\n');
    return escaped(String(value));
  });
  return new Markup(String.raw({ raw: strings }, ...parts));
}
