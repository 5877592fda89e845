import { AgentRlError } from '../../../agent_rl/core/errors.ts';

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
      `The chat template asks for the date as ${JSON.stringify(format)}, but ${written} is not supported. Supported: ${Object.keys(
        directives,
      )
        .map((known) => `%${known}`)
        .join(' ')}.`,
    );
  });
}
