import { command } from '../command.ts';
import {
  evaluationOptions,
  optionsWithout,
  refuseBoth,
  renamedModelFlags,
} from '../flags/config-flags.ts';
import { quietFlag, textFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';

/** The checkpoint that a command takes in place of the model of a run file. */
export const checkpointWord = textFlag(
  'Run folder or checkpoint; the model of the run file otherwise',
);

/** `agent-rl eval` is named after what it does; `eval` itself is not a name to export. */
export const evaluate = command({
  name: 'eval [checkpoint]',
  describe: 'Attempt held-out tasks with a model or a checkpoint',
  examples: [
    ['runs/my-run', 'The newest checkpoint of a run, with the config of the run'],
    [
      'runs/my-run --split test --samples 8 --temperature 1',
      'Eight attempts at each task of another split: pass@k and avg@k',
    ],
    [
      'runs/my-run --samples 8 --temperature 1 --strategy majority',
      'The answer that most of eight attempts gave counts',
    ],
    ['--config my_run.yaml --model Qwen/Qwen3-0.6B', 'A model as it was before training'],
  ],
  positionals: { checkpoint: checkpointWord },
  flags: { split: textFlag('Split to attempt; dataset.evalSplit otherwise'), quiet: quietFlag },
  settings: {
    ...optionsWithout([
      'train-split',
      'eval-split',
      'preview-tasks',
      'output',
      'max-iterations',
      'log-rollouts',
    ]),
    ...evaluationOptions,
  },
  renamed: { ...renamedModelFlags, 'eval-split': 'split' },
  run: async (flags, running) => {
    refuseBoth(running.parsed, 'checkpoint', 'model');
    const otherwise = configFor(flags.checkpoint, running);
    return running.jobs.evaluate({ ...(await prepare(running, { otherwise })), ...flags });
  },
});
