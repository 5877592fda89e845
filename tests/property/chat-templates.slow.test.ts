import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { messageOf } from '#agent_rl/core/errors.ts';
import { readMarked } from '#agent_rl/core/python/python-json.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';
import { type JinjaOracle, jinjaOracle, type Rendering } from '#tests/support/jinja-oracle.ts';
import * as fc from '#tests/support/properties.ts';
import { randomTemplate } from '#tests/support/random-templates.ts';
import { randomValues } from '#tests/support/random-values.ts';

let oracle: JinjaOracle;

beforeAll(async () => {
  oracle = await jinjaOracle();
});

afterAll(() => oracle.close());

/** Our rendering of a template that sees values, which are JSON text, by their names. */
function rendering(source: string, values: string): Rendering {
  try {
    const names = readMarked(values) as Readonly<Record<string, string>>;
    return { text: new ChatTemplate(source, names).renderRaw([], undefined) };
  } catch (cause) {
    return { error: messageOf(cause) };
  }
}

/** What Python renders and we refuse: never wrong, but a renderer that refuses much is of no use. */
class Refused {
  #rendered = 0;
  readonly #refused: string[] = [];

  add(source: string, python: Rendering, ours: Rendering): void {
    if ('text' in ours) this.#rendered++;
    else if ('text' in python) this.#refused.push(`${source}\n${ours.error}`);
  }

  /** Some of it, when it is more than a tenth. */
  get tooMuch(): readonly string[] {
    return this.#refused.length * 10 > this.#rendered ? this.#refused.slice(0, 20) : [];
  }
}

/** Python prints where an object lies in memory. */
const printsAddress = (python: Rendering): boolean =>
  'text' in python && / at 0x[\da-f]+/.test(python.text);

test('a random chat template renders what Python renders, or is refused', async () => {
  const refused = new Refused();
  await fc.assert(
    fc.asyncProperty(randomTemplate(), randomValues(), async (source, values) => {
      const python = await oracle.render(source, values);
      fc.pre(!printsAddress(python));
      const ours = rendering(source, values);
      expect('text' in ours ? ours : python).toEqual(python);
      refused.add(source, python, ours);
    }),
    { numRuns: 600 },
  );
  expect(refused.tooMuch).toEqual([]);
});

test('a hand-picked chat template renders what Python renders, or is refused', async () => {
  const read = (name: string) =>
    readFile(new URL(`../fixtures/jinja/${name}`, import.meta.url), 'utf8');
  const sources = JSON.parse(await read('corners.json')) as readonly string[];
  const values = await read('corners-values.json');
  const python = await oracle.renderAll(sources.map((source) => ({ source, values })));
  const refused = new Refused();
  const different = sources.flatMap((source, at) => {
    const [expected, ours] = [python[at] ?? { error: 'none' }, rendering(source, values)];
    if (printsAddress(expected)) return [];
    refused.add(source, expected, ours);
    const same = 'error' in ours || ('text' in expected && ours.text === expected.text);
    return same ? [] : [{ source, expected, ours }];
  });
  expect(different.slice(0, 20)).toEqual([]);
  expect(refused.tooMuch).toEqual([]);
});
