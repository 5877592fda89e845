import { trainingJob } from '../../jobs/jobs.ts';
import { type Override } from '../../config/index.ts';
import type { Command, CommandContext } from '../command.ts';
import { configOptions, type Parsed } from '../config-flags.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

const options: Command['options'] = {
  ...configOptions,
  resume: {
    type: 'string',
    describe: 'Continue a run folder, or the newest run when none is named',
  },
  'dry-run': { type: 'boolean', default: false, describe: 'Print the plan and stop' },
};

interface Preset {
  /** Run file of `configs/` when none is named. */
  usual?: string;
  fixed?: readonly Override[];
}

async function run(
  parsed: Parsed,
  { io, jobs }: CommandContext,
  { usual, fixed = [] }: Preset = {},
): Promise<number> {
  const { resume } = parsed;
  const job = await prepare(parsed, io, { otherwise: configFor(resume, parsed, usual), fixed });
  const result = await jobs[trainingJob(job.loaded.config)]({
    ...job,
    dryRun: parsed['dry-run'] === true,
    ...(typeof resume === 'string' ? { resume: resume === '' ? 'newest' : resume } : {}),
  });
  if (parsed['json'] === true) writeJson(io, result);
  return 0;
}

export const train: Command = {
  name: 'train',
  describe: 'Train a policy as train.mode says: by reinforcement learning, unless it is sft',
  options,
  run: async (parsed, context) => run(parsed, context),
};

/** `train` for a program of its own, which has a run file of its own. */
export const trainFrom = (usual: string): Command => ({
  ...train,
  run: async (parsed, context) => run(parsed, context, { usual }),
});

export const sft: Command = {
  name: 'sft',
  describe: 'Train a policy on demonstrations',
  options,
  run: async (parsed, context) =>
    run(parsed, context, {
      fixed: [{ source: 'agent-rl sft', path: 'train.mode', value: 'sft' }],
    }),
};
