import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';

interface Vector {
  text: string;
  ids: readonly number[];
  /** Without control tokens, where that is something else. */
  plain?: readonly number[];
}

const read = (name: string): unknown =>
  JSON.parse(
    readFileSync(join(packageRoot(), 'tests', 'fixtures', 'llama3-tokenizer', name), 'utf8'),
  );
const tokenizer = new Tokenizer(read('tokenizer.json'), {});
const vectors = read('vectors.json') as readonly Vector[];

test('a tokenizer laid out as Llama 3 encodes as in Python and adds no beginning of text', () => {
  expect(vectors.length).toBeGreaterThanOrEqual(70);
  for (const { text, ids, plain = ids } of vectors) {
    expect([text, tokenizer.encodeTemplate(text)]).toEqual([text, ids]);
    expect([text, tokenizer.encodePlain(text)]).toEqual([text, plain]);
    expect(tokenizer.decode(ids)).toBe(text);
  }
});
