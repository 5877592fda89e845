/**
 * JSON as Python reads and prints it. Chat templates were made with Python, and models trained on what it prints: 1.0 is
 * not 1 there, 1e-7 is printed 1e-07, integers have any size, and keys stay in their order. JavaScript has one kind of
 * number, forgets how it was written, and puts keys that are integers first.
 *
 * So JSON whose numbers matter is read with `readMarked`: where JavaScript would print a number otherwise, a mark stands
 * in its place, a text that holds Python's spelling; so with keys that JavaScript would move. `unmarked` puts the spellings
 * into what was printed from it.
 */
import { randomInt } from 'node:crypto';

import { isRecord } from '../is-record.ts';
import { replaceLiterals } from '../wire/json-numbers.ts';
import { JsonShape } from '../wire/json-shape.ts';
import { floatRepr } from './python-value.ts';

// Private-use characters that are drawn for this process: whatever a model or a file writes is a text, and no mark. JSON
// writes the line break as \n, which tells a mark that was printed as JSON, in quotes, from one that was printed as it is;
// a key keeps its quotes.
const secret = Array.from({ length: 12 }, () =>
  String.fromCharCode(0xe000 + randomInt(0x1900)),
).join('');
const [open, openKey, close] = [`${secret}\n`, `${secret}\t`, '\uE0F5'];
const spelling = '(-?\\d[\\d.e+-]*)';
const marks = new RegExp(
  `"${secret}\\\\n${spelling}${close}"|${secret}\n${spelling}${close}|${secret}(?:\\\\t|\t)(\\d+)${close}`,
  'g',
);

/** Lists and objects in each other. Deeper ones are refused, so that code may follow a value by recursion. */
const mostDepth = 500;

/**
 * A value of JSON text, with marks for numbers.
 *
 * @throws SyntaxError for text that is not JSON, is nested too deep or has a number too large for JavaScript
 */
export function readMarked(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const marked = withMarks(json);
  return marked === json ? value : JSON.parse(marked);
}

/** Text printed from a value with marks, with the numbers restored. */
export const unmarked = (text: string): string =>
  text.replace(
    marks,
    (_, quoted?: string, bare?: string, key?: string) => quoted ?? bare ?? key ?? '',
  );

/** Whether a value is the mark of a number. */
export const isMark = (value: unknown): boolean =>
  typeof value === 'string' && value.startsWith(open);

type JsonObject = Readonly<Record<string, unknown>>;

/** An object of JSON, and its text where that has numbers whose spelling JavaScript loses. */
export interface WrittenObject {
  value: JsonObject;
  written?: string;
}

/** An object that was read with marks, as plain JavaScript. */
export function withoutMarks(read: object): WrittenObject {
  const json = JSON.stringify(read);
  const written = unmarked(json);
  if (written === json) return { value: { ...read } };
  const value: unknown = JSON.parse(written);
  // What was written is an object, since what was marked is one.
  if (!isRecord(value)) throw new Error(`${written} is not an object.`);
  return pythonJson(value) === unmarked(printed(read)) ? { value } : { value, written };
}

/** An object with marks for numbers, from its text where it was kept. */
export const marked = (value: object, written?: string): JsonObject =>
  readMarked(written ?? JSON.stringify(value)) as JsonObject;

/**
 * JSON as Python's `json.dumps(value, ensure_ascii=False)` writes it.
 *
 * @param written its text, where that was kept
 */
export const pythonJson = (value: unknown, written?: string): string =>
  unmarked(printed(readMarked(written ?? JSON.stringify(value) ?? 'null')));

/** JSON with a space after `,` and `:`. */
function printed(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}: ${printed(entry)}`).join(', ')}}`;
}

/** JSON text in which marks replace the numbers and keys that JavaScript and Python print differently. */
function withMarks(json: string): string {
  if (new JsonShape().add(Buffer.from(json)).nesting > mostDepth)
    throw new SyntaxError(`it is nested more than ${mostDepth} levels deep`);
  return replaceLiterals(json, {
    number: (literal) => {
      const python = pythonNumber(literal);
      const same = python === JSON.stringify(Number(literal));
      return same ? undefined : JSON.stringify(`${open}${python}${close}`);
    },
    key: (literal) => {
      const key = String(JSON.parse(literal));
      return isIndex.test(key) ? JSON.stringify(`${openKey}${key}${close}`) : undefined;
    },
  });
}

/** A key that JavaScript takes for an index, and puts before others. */
const isIndex = /^(?:0|[1-9]\d{0,9})$/;

/** A number of JSON as Python prints it once it is read. */
function pythonNumber(literal: string): string {
  const value = Number(literal);
  // JavaScript would print null. Python reads it, as infinity or as a long integer, but JSON has no infinity.
  if (!Number.isFinite(value)) throw new SyntaxError('it has a number above 1.8e308');
  if (!/[.eE]/.test(literal)) return literal === '-0' ? '0' : literal;
  return floatRepr(value);
}
