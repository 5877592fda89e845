/**
 * The Jinja library, fixed where its output would differ from Python's: `strip` and its like forget
 * which characters they are given there, and `strftime_now` reads the clock.
 */
import type { Template } from '@huggingface/jinja';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { BoundedTemplate } from './bounded-template.ts';

// Names that no template uses by accident.
const [clock, stripping] = ['agent_rl_strftime', 'agent_rl_strip'];
const strips: ReadonlySet<unknown> = new Set(['strip', 'lstrip', 'rstrip']);

/** @throws Error when the template cannot be parsed. */
export function pythonTemplate(source: string): Template {
  const template = new BoundedTemplate(source);
  mend(template.parsed);
  return template;
}

/** What mended templates call. @param date the day, YYYY-MM-DD, at which their clock stands */
export const pythonFunctions = (date: string): Readonly<Record<string, unknown>> => ({
  [clock]: (format: string) => strftime(format, date),
  [stripping]: (side: string, text: unknown, characters: unknown) => {
    if (typeof text === 'string' && typeof characters === 'string')
      return stripped(side, text, characters);
    throw new Error(`${side} is given ${typeof text} and ${typeof characters}; both must be text`);
  },
});

/** Python's `text.strip(characters)`, `lstrip` and `rstrip`. */
function stripped(side: string, text: string, characters: string): string {
  const among = new Set(Array.from(characters));
  const symbols = Array.from(text);
  let [start, end] = [0, symbols.length];
  if (side !== 'rstrip') while (start < end && among.has(symbols[start] ?? '')) start++;
  if (side !== 'lstrip') while (end > start && among.has(symbols[end - 1] ?? '')) end--;
  return symbols.slice(start, end).join('');
}

/** Rewrites `x.strip(c)` to a call of our own, and the clock's name, wherever they stand in a parsed template. */
function mend(node: unknown): void {
  if (Array.isArray(node)) for (const part of node) mend(part);
  if (!isRecord(node)) return;
  if (node['type'] === 'Identifier' && node['value'] === 'strftime_now') {
    Object.assign(node, { value: clock });
  }
  const { callee, args } = node;
  const called = node['type'] === 'CallExpression' && isRecord(callee) ? callee : {};
  const property = isRecord(called['property']) ? called['property'] : {};
  const given = Array.isArray(args) && args.length > 0;
  if (called['type'] === 'MemberExpression' && given && strips.has(property['value'])) {
    const side = { type: 'StringLiteral', value: property['value'] };
    Object.assign(node, {
      callee: { type: 'Identifier', value: stripping },
      args: [side, called['object'], ...(args as readonly unknown[])],
    });
  }
  for (const part of Object.values(node)) mend(part);
}

const months =
  'January February March April May June July August September October November December';
const weekdays = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday';

const two = (value: number): string => String(value).padStart(2, '0');

/** What each directive of a date stands for; the time of day is midnight. */
const directives: Readonly<Record<string, (day: Date) => string>> = {
  '%': () => '%',
  Y: (day) => String(day.getUTCFullYear()),
  y: (day) => two(day.getUTCFullYear() % 100),
  m: (day) => two(day.getUTCMonth() + 1),
  '-m': (day) => String(day.getUTCMonth() + 1),
  d: (day) => two(day.getUTCDate()),
  '-d': (day) => String(day.getUTCDate()),
  B: (day) => months.split(' ')[day.getUTCMonth()] ?? '',
  b: (day) => (months.split(' ')[day.getUTCMonth()] ?? '').slice(0, 3),
  A: (day) => weekdays.split(' ')[day.getUTCDay()] ?? '',
  a: (day) => (weekdays.split(' ')[day.getUTCDay()] ?? '').slice(0, 3),
  H: () => '00',
  M: () => '00',
  S: () => '00',
};

/**
 * A given day, YYYY-MM-DD, as Python's `strftime` writes it.
 *
 * @throws AgentRlError `TOKENIZER_INVALID` for a directive that is not known here.
 */
export function strftime(format: string, date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  return format.replaceAll(/%(-?.)/gs, (written, name: string) => {
    const directive = directives[name];
    if (directive !== undefined) return directive(day);
    throw new AgentRlError(
      'TOKENIZER_INVALID',
      `The chat template asks for the date as ${JSON.stringify(format)}, and ${written} is not known. Known: ${Object.keys(
        directives,
      )
        .map((known) => `%${known}`)
        .join(' ')}.`,
    );
  });
}
