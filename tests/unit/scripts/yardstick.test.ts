import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { differences, hashesOf, type Yardstick } from '#scripts/yardstick/hashes.ts';
import { yardstickJobs } from '#scripts/yardstick/jobs.ts';
import { writeJournal } from '#tests/support/journal.ts';
import { played } from '#tests/support/rollouts.ts';
import { freshFolder, temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
interface Change {
  tokens?: number[];
  logProbs?: number[];
  reward?: number;
  outcome?: 'wrong-answer';
}

const spans = [{ start: 0, end: 2, source: 'sampled', version: 0 }] as const;
const episode = (
  sample: number,
  { tokens = [1, 2], logProbs = [-0.5, -0.5], ...change }: Change = {},
) => {
  const place = { when: 'train', iteration: 1, taskId: 'a', sample, success: true } as const;
  return played({ ...place, reward: 1, sequences: [{ tokens, logProbs, spans }], ...change });
};

function hashesWith(change: Change, weights = 'w') {
  const run = freshFolder(folder);
  writeBelow(run, 'checkpoints/step-10/model.safetensors', weights);
  writeBelow(run, 'checkpoints/step-9/model.safetensors', 'older');
  const { key, ...evaluated } = episode(0);
  const before = { ...evaluated, key: { ...key, when: 'before', iteration: 0 } } as const;
  writeJournal(run, { rollouts: [before, episode(0), episode(1, change)] });
  return hashesOf(run);
}

const changed = (a: object, b: object): string[] =>
  Object.entries(a).flatMap(([name, hash]) =>
    new Map(Object.entries(b)).get(name) === hash ? [] : [name],
  );

describe('The yardstick', () => {
  test.each<[Change, string, string[]]>([
    [{ tokens: [1, 3] }, 'w', ['tokens']],
    [{ logProbs: [-0.5, -0.5000001] }, 'w', ['logProbs']],
    [{ reward: 0.5 }, 'w', ['verdicts']],
    [{ outcome: 'wrong-answer' }, 'w', ['verdicts']],
    [{}, 'v', ['weights']],
    [{}, 'w', []],
  ])('reports for %j and weights %s what differs: %j', async (change, weights, names) => {
    const [usual, other] = [await hashesWith({}), await hashesWith(change, weights)];
    expect(changed(usual, other)).toEqual(names);
  });

  test('has only the weights of a run that learned from no episodes', async () => {
    const run = freshFolder(folder);
    writeBelow(run, 'checkpoints/step-1/model.safetensors', 'w');
    writeJournal(run, {});
    expect(Object.keys(await hashesOf(run))).toEqual(['weights']);
  });

  test('trains every run file in configs/, and has a hash of each job in its fixture', () => {
    const names = yardstickJobs.map(({ name }) => name).toSorted();
    const files = readdirSync(join(packageRoot(), 'configs'));
    const runs = files.filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -5));
    expect(names).toEqual(runs.toSorted());
    const fixture = join(packageRoot(), 'tests', 'fixtures', 'yardstick.json');
    const { jobs } = JSON.parse(readFileSync(fixture, 'utf8')) as Yardstick;
    expect(Object.keys(jobs).toSorted()).toEqual(names);
  });

  test('names hashes that differ, and another machine', () => {
    const before = { machine: 'a', jobs: { one: { weights: '1' }, two: { weights: '2' } } };
    expect(differences(before, { machine: 'a', jobs: { one: { weights: '1' } } })).toEqual([]);
    const lost = differences(before, { machine: 'a', jobs: { one: {} } });
    expect(lost).toEqual(['one: weights 1 -> -\n']);
    expect(differences(before, { machine: 'b', jobs: { two: { weights: '3' } } })).toEqual([
      'two: weights 2 -> 3\n',
      'The fixture was made on another machine: a.\n',
    ]);
  });
});
