import type { Command } from '../command.ts';
import { optionsWithout, refuseBoth, renamedModelFlags } from '../flags/config-flags.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

const unused = [
  'dataset-dir',
  'train-split',
  'eval-split',
  'preview-tasks',
  'async-rollout-workers',
  'output',
  'max-iterations',
  'log-rollouts',
];

export const chat: Command = {
  name: 'chat <prompt> [checkpoint]',
  describe: 'Give a policy one prompt and show the transcript by where its tokens came from',
  positionals: {
    prompt: { type: 'string', describe: 'What the user says' },
    checkpoint: { type: 'string', describe: 'Run folder or checkpoint; model.path otherwise' },
  },
  examples: [['"What is 2 + 2?" runs/my-run', 'The newest checkpoint of a run']],
  renamed: renamedModelFlags,
  options: {
    ...optionsWithout(unused),
    color: { type: 'boolean', describe: 'Colours; by default when stdout is a terminal' },
  },
  run: async (parsed, { io, jobs }) => {
    const { checkpoint, color, prompt } = parsed;
    refuseBoth(parsed, 'checkpoint', 'model');
    const job = await prepare(parsed, io, { otherwise: configFor(checkpoint, parsed) });
    const result = await jobs.chat({
      ...job,
      prompt: String(prompt),
      color: typeof color === 'boolean' ? color : io.stdout.isTTY === true,
      ...(typeof checkpoint === 'string' ? { checkpoint } : {}),
    });
    if (parsed['json'] === true) writeJson(io, result);
    return 0;
  },
};
