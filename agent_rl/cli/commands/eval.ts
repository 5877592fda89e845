import type { Command } from '../command.ts';
import { configOptions } from '../config-flags.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

/** `agent-rl eval` is named after what it does; `eval` itself is not a name to export. */
export const evaluate: Command = {
  name: 'eval [checkpoint]',
  describe: 'Attempt held-out tasks with a model or checkpoint',
  positionals: {
    checkpoint: { type: 'string', describe: 'Run folder or checkpoint; model.path otherwise' },
  },
  options: {
    ...configOptions,
    split: { type: 'string', requiresArg: true, describe: 'Split instead of dataset.evalSplit' },
  },
  run: async (parsed, { io, jobs }) => {
    const { checkpoint, split } = parsed;
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
