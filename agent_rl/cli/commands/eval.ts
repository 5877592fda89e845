import type { Command } from '../command.ts';
import { optionsWithout, refuseBoth, renamedModelFlags } from '../flags/config-flags.ts';
import { textFlag } from '../flags/flag.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

const unused = [
  'train-split',
  'eval-split',
  'preview-tasks',
  'output',
  'max-iterations',
  'log-rollouts',
];

/** `agent-rl eval` is named after what it does; `eval` itself is not a name to export. */
export const evaluate: Command = {
  name: 'eval [checkpoint]',
  describe: 'Attempt held-out tasks with a model or a checkpoint',
  examples: [
    ['runs/my-run', 'The newest checkpoint of a run, with the config of the run'],
    [
      'runs/my-run --split test --set eval.samples=4',
      'Four attempts at each task of another split',
    ],
    ['--config my_run.yaml --model Qwen/Qwen3-0.6B', 'A model as it was before training'],
  ],
  positionals: {
    checkpoint: {
      type: 'string',
      describe: 'Run folder or checkpoint; the model of the run file otherwise',
    },
  },
  options: {
    split: textFlag('Split to attempt; dataset.evalSplit otherwise'),
    ...optionsWithout(unused),
  },
  renamed: { ...renamedModelFlags, 'eval-split': 'split' },
  run: async (parsed, { io, jobs }) => {
    const { checkpoint, split } = parsed;
    refuseBoth(parsed, 'checkpoint', 'model');
    const job = await prepare(parsed, io, { otherwise: configFor(checkpoint, parsed) });
    const result = await jobs.evaluate({
      ...job,
      ...(typeof checkpoint === 'string' ? { checkpoint } : {}),
      ...(typeof split === 'string' ? { split } : {}),
    });
    if (parsed['json'] === true) writeJson(io, result);
    return 0;
  },
};
