import type { Command } from '../command.ts';
import { optionsWithout, refuseBoth } from '../config-flags.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

const unused = ['train-split', 'preview-tasks', 'output-dir', 'max-iterations', 'log-rollouts'];

/** `agent-rl eval` is named after what it does; `eval` itself is not a name to export. */
export const evaluate: Command = {
  name: 'eval [checkpoint]',
  describe: 'Attempt held-out tasks with a model or checkpoint',
  positionals: {
    checkpoint: { type: 'string', describe: 'Run folder or checkpoint; model.path otherwise' },
  },
  options: {
    ...optionsWithout(unused),
    split: { type: 'string', requiresArg: true, describe: 'Split instead of dataset.evalSplit' },
  },
  run: async (parsed, { io, jobs }) => {
    const { checkpoint, split } = parsed;
    refuseBoth(parsed, 'checkpoint', 'model-path');
    refuseBoth(parsed, 'split', 'eval-split');
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
