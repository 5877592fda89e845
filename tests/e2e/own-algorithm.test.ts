import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { sets } from '../support/built-program.ts';
import { makeAcmeProject, readJson } from '../support/acme-project.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/** GRPO written again, in a file of a project outside the repository. */
const own = `
import { advantage, loss, Type } from 'agent_rl/plugin';

export const ratioLoss = loss({
  name: 'own-clip',
  description: 'The clipped ratio, written again',
  settings: Type.Object({ high: Type.Number({ default: 1, minimum: 0, maximum: 9 }) }),
  module: import.meta.url,
})(({ ratio, advantages }, { high }: { high: number }, { mul, clip, minimum, neg }) => {
  const free = mul(ratio, advantages);
  return {
    losses: neg(minimum(free, mul(clip(ratio, 0.8, 1 + high), advantages))),
    metrics: { ownRatio: ratio },
  };
});

export const centred = advantage({ name: 'own-mean', description: 'Less the mean of the group' })(
  (groups) =>
    groups.map((rewards) => {
      const present = rewards.filter((reward) => reward !== undefined);
      const mean = present.reduce((a, b) => a + b, 0) / present.length;
      return rewards.map((reward) =>
        reward === undefined ? undefined : present.every((one) => one === present[0]) ? 0 : reward - mean,
      );
    }),
);
`;

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
beforeAll(async () => {
  await makeAcmeProject(project);
  writeBelow(project, 'own-algorithm.ts', own);
});

async function trained(name: string, settings: readonly string[]) {
  const args = ['train', '--config', 'train.yaml', '--output', name];
  const { code, stderr } = await agentRl([...args, ...sets(...settings)], project);
  return { code, stderr, run: join(project, name, 'train-seed7') };
}

test("a custom loss and advantage train a run, with the loss in the engine's thread", async () => {
  const ours = await trained('ours', [
    'algorithm.advantage={type: group-relative, std: none}',
    'algorithm.loss={type: clipped, clipHigh: 0.5}',
    'algorithm.epochs=2',
  ]);
  const theirs = await trained('theirs', [
    'algorithm.advantage={type: own-mean}',
    'algorithm.loss={type: own-clip, high: 0.5}',
    'algorithm.epochs=2',
    'plugins=["@acme/arithmetic", "./vowels.ts", "./own-algorithm.ts"]',
  ]);
  expect([ours.code, theirs.code, theirs.stderr.includes('no effect')]).toEqual([0, 0, false]);
  const { weightsSha256 } = readJson(ours.run, 'summary.json');
  expect(readJson(theirs.run, 'summary.json')).toMatchObject({ weightsSha256 });
});

test('a loss or an advantage that cannot be used is refused before anything is opened', async () => {
  writeBelow(project, 'nowhere.ts', own.replace('module: import.meta.url,', ''));
  const { code, stderr } = await trained('refused', [
    'algorithm.loss={type: own-clip}',
    'plugins=["@acme/arithmetic", "./vowels.ts", "./nowhere.ts"]',
  ]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/algorithm\.loss\.type: .*Add module: import\.meta\.url\./),
  ]);
});
