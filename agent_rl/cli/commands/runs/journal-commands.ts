import { resolve } from 'node:path';

import { command } from '../../command.ts';
import { configOptions } from '../../flags/config-flags.ts';
import { choiceFlag, requiredFlag, textFlag } from '../../flags/flag.ts';
import { configFor, prepare } from '../../prepare.ts';

const exportFormats = ['episodes', 'messages', 'parquet'] as const;

const run = requiredFlag('Folder of a run');

export const exportRun = command({
  name: 'export <run>',
  describe: 'Write the episodes of a run, also of one under way, as lines of JSON',
  examples: [
    ['runs/workspace_grpo-seed42', 'Write trajectories/*.jsonl to the run folder'],
    ['runs/my-run --output episodes', 'Write to another folder'],
    ['runs/my-run --format parquet', 'Write conversations that other programs read'],
  ],
  positionals: { run },
  flags: {
    output: textFlag(
      'Folder to write to (default: trajectories or conversations in the run folder)',
    ),
    format: choiceFlag(
      'episodes: with tokens, calls and all else. messages, parquet: conversations in the OpenAI form, with tools and rewards, as JSON Lines or Parquet',
      exportFormats,
      'episodes',
    ),
  },
  run: (flags, { jobs, job }) => jobs.exportRun({ ...flags, ...job }),
});

export const diff = command({
  name: 'diff <a> <b>',
  describe: 'Find the first event in which the journals of two runs differ',
  examples: [['runs/my-run-seed1 runs/my-run-again', 'Name the event, the rollout and the values']],
  positionals: { a: run, b: requiredFlag('Folder of the other run') },
  run: (flags, { jobs, job }) => jobs.diffRuns({ ...flags, ...job }),
});

export const replay = command({
  name: 'replay <run>',
  describe: 'Repeat a run with the tokens that it sampled, and find the first event that differs',
  examples: [
    ['runs/workspace_grpo-seed42', 'Check that tools, environment, rewards and updates repeat'],
  ],
  positionals: { run },
  settings: configOptions,
  run: async (flags, running) => {
    const { drawingGenerators, replayFolder } = await import('../../../jobs/replay/replay-run.ts');
    const folder = resolve(flags.run);
    const settings = {
      'run.outputDir': await replayFolder(),
      'run.name': 'replay',
      ...Object.fromEntries(
        drawingGenerators(folder).map((path) => [path, { type: 'replay', run: folder }]),
      ),
      trackers: [],
      'checkpoint.every': 0,
    };
    const source = 'agent-rl runs replay';
    const fixed = Object.entries(settings).map(([path, value]) => ({ source, path, value }));
    const file = configFor(folder, running);
    const job = await prepare(running, { file, fixed, training: true });
    return running.jobs.replayRun({ ...job, run: folder });
  },
});

export const rescore = command({
  name: 'rescore <run>',
  describe:
    'Give the recorded rollouts of a run other rewards, and show what would have been trained',
  examples: [['runs/my-run --rewards rewards.yaml', 'With the rewards of that file']],
  positionals: { run },
  flags: { rewards: requiredFlag('YAML file with blocks of a run file on rewards, and algorithm') },
  settings: configOptions,
  run: async (flags, running) => {
    const { rewardOverrides } = await import('../../../jobs/replay/reward-overrides.ts');
    const folder = resolve(flags.run);
    const file = configFor(folder, running);
    const fixed = rewardOverrides(flags.rewards);
    const job = await prepare(running, { file, fixed, training: true });
    return running.jobs.rescoreRun({ ...job, run: folder });
  },
});
