import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import * as seeds from '#scripts/bench/controls/seed.ts';
import { makeControls } from '#scripts/bench/controls/parts.ts';
import { runTasks } from '#scripts/bench/controls/tasks/run-tasks.ts';
import { rightDemonstrations } from '#scripts/bench/controls/training/shown.ts';
import { sliceNames } from '#dataset/workspace_tasks/generator/rows.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const { keepAsked, prepareEvaluated, prepareOwn } = seeds;
const folder = temporaryFolder();
const optionsWith = (more: Partial<seeds.SeedOptions> = {}): seeds.SeedOptions => ({
  seed: 3,
  config: join(packageRoot(), 'configs/workspace_grpo.yaml'),
  sftConfig: join(packageRoot(), 'configs/workspace_sft.yaml'),
  sets: [],
  attempts: 8,
  price: 0.05,
  runs: 'runs',
  folder,
  signal: new AbortController().signal,
  print: () => undefined,
  ...more,
});

const ofConfig = (config: string) =>
  optionsWith({ config: join(packageRoot(), 'configs', config) });

test('right demonstrations of programs show the references of the tasks that the run draws', async () => {
  const options = ofConfig('code_exec_grpo.yaml');
  const shown = rightDemonstrations(options);
  const conversations = await shown.conversations(20, await prepareOwn(options));
  const drawn = (await runTasks(options)).drawn(20);
  expect(conversations.map(([asked]) => asked?.content)).toEqual(drawn.map(({ prompt }) => prompt));
});

test('a job of several kinds has no right demonstrations, and trains nothing to find out', async () => {
  const run = (): never => {
    throw new Error('The run was made.');
  };
  const made = await makeControls(ofConfig('mixed_grpo.yaml'), ['right-demonstrations'], run);
  expect(made).toEqual({ 'right-demonstrations': null });
});

test('a seed starts from its own starter, and a control from the model that it names', async () => {
  const own = optionsWith({ starter: 'starters/three' });
  const { config } = (await prepareOwn(own)).loaded;
  expect(config).toMatchObject({ run: { seed: 3 }, model: { path: 'starters/three' } });
  const taught = await prepareOwn(own, { 'model.path': 'taught' });
  expect(taught.loaded.config.model.path).toBe('taught');
});

test('controls are evaluated on every slice, and the run keeps its own settings', async () => {
  const slicesOf = ({ loaded }: Awaited<ReturnType<typeof prepareOwn>>): unknown =>
    loaded.config.datasets.map(({ generator }) => generator);
  const sets = ['datasets.0.generator.slices=[four steps]', 'datasets.0.generator.evalTasks=8'];
  const options = optionsWith({ sets });
  const generator = { type: 'workspace', evalTasks: 8 };
  const ofRun = [{ ...generator, slices: ['four steps'] }];
  expect(slicesOf(await prepareOwn(options))).toEqual(ofRun);
  const slices = sliceNames.filter((name) => name !== undefined);
  expect(slicesOf(await prepareEvaluated(options))).toEqual([{ ...generator, slices }]);
});

test('controls have room for the deepest questions, and at least the room of the run', async () => {
  const roomOf = async (sets: string[]) => {
    const { policy, rollout } = (await prepareEvaluated(optionsWith({ sets }))).loaded.config;
    return [policy.maxContextTokens, rollout.maxEpisodeTokens, rollout.maxTurns];
  };
  expect(await roomOf([])).toEqual([1536, 1536, 24]);
  const more = ['policy.maxContextTokens=1600', 'rollout.maxEpisodeTokens=1600'];
  expect(await roomOf([...more, 'rollout.maxTurns=30'])).toEqual([1600, 1600, 30]);
});

describe('A folder of parts', () => {
  test('is reused with the same settings, whatever is computed from it', async () => {
    await keepAsked(optionsWith());
    await keepAsked(optionsWith({ attempts: 4, price: 1, runs: 'elsewhere' }));
  });

  test.each<[string, Partial<seeds.SeedOptions>]>([
    ['settings', { sets: ['train.learningRate=1'] }],
    ['another starter', { starter: 'starters/four' }],
    ['another warm-up', { sftConfig: join(packageRoot(), 'configs/search_sft.yaml') }],
  ])('is refused with %s', async (_, more) => {
    await keepAsked(optionsWith());
    await expect(keepAsked(optionsWith(more))).rejects.toThrow('Set --out to another folder');
  });
});
