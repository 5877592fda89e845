import { expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

function read(text: string, overrides: readonly string[] = []) {
  const file = writeBelow(
    folder,
    'run.yaml',
    `environment: {type: code_exec}\ndataset: {dir: a}\n${text}`,
  );
  const { config, warnings } = loadConfig({ file, overrides });
  return {
    rollout: config.rollout,
    rewardManager: config.rewardManager,
    algorithm: config.algorithm,
    warnings: warnings.map((one) => one.replace(`${folder}/`, '')),
  };
}

test('algorithm.truncated is read as the outcomes it is now written as, with a warning', () => {
  const { rollout, warnings } = read('algorithm: {truncated: drop}\n');
  expect(rollout.outcomes).toMatchObject({
    'truncated-tokens': 'mask',
    'truncated-turns': 'mask',
    'invalid-calls': 'train',
  });
  expect(warnings).toEqual([
    'run.yaml:3 algorithm.truncated: now rollout.outcomes.truncated-tokens and rollout.outcomes.truncated-turns, mask for drop. The old setting is accepted until version 0.3.',
  ]);
});

test('a setting under its new name goes over one under its old name', () => {
  const { rollout } = read('algorithm: {truncated: drop}\n', [
    'rollout.outcomes.truncated-turns=penalise',
  ]);
  expect(rollout.outcomes).toMatchObject({
    'truncated-tokens': 'mask',
    'truncated-turns': 'penalise',
  });
});

test('rollout.episodeTimeoutS is read, has no effect, and the warning says what limits there are', () => {
  const { rollout, warnings } = read('rollout: {episodeTimeoutS: 120}\n');
  expect(rollout).not.toHaveProperty('episodeTimeoutS');
  expect(warnings).toEqual([
    expect.stringMatching(
      /^run\.yaml:3 rollout\.episodeTimeoutS: has no effect: .*rollout\.deadlines/,
    ),
  ]);
});

test('algorithm.rewardScheme is read as the type of the reward manager', () => {
  const { rewardManager, warnings } = read('algorithm: {rewardScheme: pca}\n');
  expect(rewardManager).toEqual({ type: 'pca' });
  expect(warnings).toEqual([
    'run.yaml:3 algorithm.rewardScheme: now rewardManager.type. The old setting is accepted until version 0.3.',
  ]);
});

test('a wrong value of an old setting is reported by its place', () => {
  expect(() => read('algorithm: {truncated: sometimes}\n')).toThrow(
    /run\.yaml:3:\d+ rollout\.outcomes\.truncated-tokens: /,
  );
});

test('parts of the algorithm are read by their old names, from a file and with --set', () => {
  const { algorithm, warnings } = read('algorithm: {advantageStd: none, clipHigh: 0.5}\n', [
    'algorithm.clipLow=0.1',
    'algorithm.advantageEps=0.01',
  ]);
  expect(algorithm).toMatchObject({
    advantage: { type: 'group-relative', std: 'none', eps: 0.01 },
    loss: { type: 'clipped', clipLow: 0.1, clipHigh: 0.5 },
  });
  expect(warnings).toEqual(
    [
      'run.yaml:3 algorithm.advantageStd: now algorithm.advantage.std.',
      'run.yaml:3 algorithm.clipHigh: now algorithm.loss.clipHigh.',
      '--set algorithm.clipLow=0.1 algorithm.clipLow: now algorithm.loss.clipLow.',
      '--set algorithm.advantageEps=0.01 algorithm.advantageEps: now algorithm.advantage.eps.',
    ].map((warning) => `${warning} The old setting is accepted until version 0.3.`),
  );
});

test('an old name goes over the new one of what it extends', () => {
  writeBelow(folder, 'base.yaml', 'algorithm: {loss: {clipLow: 0.3}}\n');
  const { algorithm } = read('extends: base.yaml\nalgorithm: {clipLow: 0.1}\n');
  expect(algorithm.loss).toMatchObject({ clipLow: 0.1 });
});

test.each([
  ['{enabled: true, cap: 5}', { type: 'dynamic', cap: 5 }],
  ['{enabled: true}', { type: 'dynamic' }],
  ['{enabled: false, cap: 2}', { type: 'all' }],
])('rollout.resampleZeroVariance: %s is read as a selection', (text, selection) => {
  const { algorithm, warnings } = read(`rollout: {resampleZeroVariance: ${text}}\n`);
  expect(algorithm.selection).toEqual(selection);
  expect(warnings).toEqual([
    expect.stringMatching(/^run\.yaml:3 rollout\.resampleZeroVariance: now algorithm\.selection/),
  ]);
});

test('rollout.resampleZeroVariance.enabled is read with --set', () => {
  const { algorithm } = read('', ['rollout.resampleZeroVariance.enabled=true']);
  expect(algorithm.selection).toEqual({ type: 'dynamic' });
});
