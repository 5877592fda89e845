import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import type { Weights } from '#model/config/parameters.ts';
import { loadModel } from '#model/weights/load-model.ts';
import { sets, succeeded } from '../support/built-program.ts';
import { makeAcmeProject } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { codeBlocks, fileNameOf, readDocument } from '../support/markdown.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');

/** Folder of a run of two iterations. */
async function train(name: string, ...settings: readonly string[]): Promise<string> {
  const set = ['eval.before=false', 'eval.after=false', ...settings];
  succeeded(
    await agentRl(['train', '--config', 'train.yaml', '--output', name, ...sets(...set)], project),
  );
  return join(project, name, 'train-seed7');
}

const tokensOf = async (run: string) =>
  (await episodesIn(run, 'train')).map(({ sequences }) => sequences.map(({ tokens }) => tokens));
const weightsOf = async (folder: string): Promise<Weights> => (await loadModel(folder)).parameters;
const trainedBy = (run: string): Promise<Weights> => weightsOf(join(run, 'checkpoints', 'step-2'));

const distance = (left: Weights, right: Weights): number => {
  let sum = 0;
  for (const [name, values] of left)
    for (const [i, value] of values.entries()) sum += (value - right.get(name)![i]!) ** 2;
  return Math.sqrt(sum);
};

let own = '';
beforeAll(async () => {
  await makeAcmeProject(project);
  const blocks = codeBlocks(readDocument('docs/guides/generators-and-learners.md'));
  const block = blocks.find((one) => fileNameOf(one) === 'own-learner.ts');
  writeBelow(project, 'own-learner.ts', block!.text);
  own = await train('own');
});

test.each([
  ['the eager learner', ['learner.type=eager']],
  [
    'the learner of the page on generators and learners',
    [
      'learner={type: in_pieces, sequences: 3}',
      'plugins=["@acme/arithmetic", "./vowels.ts", "./own-learner.ts"]',
    ],
  ],
])(
  '%s trains two iterations like the engine, with the same tokens and the same weights up to rounding',
  async (name, settings) => {
    const other = await train(name.replaceAll(' ', '-'), ...settings);
    expect(await tokensOf(other)).toEqual(await tokensOf(own));
    const [before, engine, trained] = await Promise.all([
      weightsOf(join(project, 'model')),
      trainedBy(own),
      trainedBy(other),
    ]);
    const way = distance(engine, before);
    expect(way).toBeGreaterThan(0);
    expect(distance(engine, trained) / way).toBeLessThan(1e-4);
  },
);
