import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import * as fc from '#tests/support/properties.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const texts = ['code_exec_grpo', 'mixed_grpo', 'medquad_rag_grpo', 'mixed_sft'].map((name) =>
  readFileSync(join(packageRoot(), 'configs', `${name}.yaml`), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line)),
);

/** What stands where something else should. */
const junk = [
  ...'null [] {} -1 1e999 .nan true 9007199254740993 *b [[[1]]] "\\u0000" \t } toString'.split(' '),
  ...['&a [*a]', '!!binary "AAAA"', '!!set {a}', '{a: {b: 1}}', '|\n  x', '{type: 3}'],
  ...['[{type: search}]', '? x', '- 1', '{__proto__: {a: 1}}'],
];
const blocks = ['run', 'train', 'tools', 'extends', 'datasets', 'dataset', 'policy', 'environment'];
const keys = blocks.concat(['rewards', 'plugins', 'eval', 'toString', '__proto__']);

type Edit = (lines: string[], at: number) => void;

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.constantFrom(...junk).map((value): Edit => (lines, at) => {
    lines[at] = lines[at]?.replace(/:.*$/, () => `: ${value}`) ?? '';
  }),
  fc.constant<Edit>((lines, at) => void lines.splice(at, 1)),
  fc
    .tuple(fc.constantFrom(...keys), fc.constantFrom(...junk), fc.nat(2))
    .map(([key, value, depth]): Edit => (lines, at) => {
      lines.splice(at, 0, `${'  '.repeat(depth)}${key}: ${value}`);
    }),
  fc.constant<Edit>((lines, at) => void (lines[at] = ` ${lines[at] ?? ''}`)),
  fc.string({ minLength: 1, maxLength: 2 }).map(
    (text): Edit =>
      (lines, at) =>
        void (lines[at] = `${lines[at] ?? ''}${text}`),
  ),
);

test('a run file with any spoiled lines is read, or refused with a code and a place', async () => {
  const edits = fc.array(fc.tuple(edit, fc.nat()), { minLength: 1, maxLength: 4 });
  const training = fc.boolean();
  let read = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), edits, training, async (text, changes, trains) => {
      const lines = [...text];
      for (const [change, place] of changes) change(lines, place % Math.max(1, lines.length));
      const file = writeBelow(folder, 'spoiled.yaml', lines.join('\n'));
      const said = await prepareRun({ file, training: trains }).then(
        () => 'read',
        (thrown: unknown) => {
          if (!AgentRlError.is(thrown)) throw thrown;
          return `${thrown.code} ${thrown.message}`;
        },
      );
      expect(said).toMatch(/^read$|^(CONFIG_INVALID|PLUGIN_\w+) [^]*spoiled\.yaml:\d+/);
      if (said === 'read') read += 1;
    }),
    { numRuns: 500 },
  );
  // Some are harmless: the property is not only about refusals.
  expect(read).toBeGreaterThan(0);
});
