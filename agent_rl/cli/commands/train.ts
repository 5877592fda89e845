import { trainingJob } from '../../jobs/jobs.ts';
import type { Override } from '../../config/index.ts';
import type { Command, CommandContext } from '../command.ts';
import { configOptions, renamedConfigFlags } from '../flags/config-flags.ts';
import { type Parsed, switchFlag } from '../flags/flag.ts';
import { writeJson } from '../io.ts';
import { configFor, prepare } from '../prepare.ts';

const options: Command['options'] = {
  resume: {
    type: 'string',
    describe: 'Run folder to resume; the newest run when none is named',
  },
  'dry-run': switchFlag('Check everything, print the plan and stop'),
  ...configOptions,
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
  const otherwise = configFor(resume, parsed, usual);
  const job = await prepare(parsed, io, { otherwise, fixed, logs: true });
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
  describe: 'Train a policy by reinforcement learning, or on demonstrations if train.mode is sft',
  examples: [
    ['--config my_run.yaml --dry-run', 'Check a run file and print the plan'],
    ['--config my_run.yaml --set rollout.groupSize=16', 'Train with another setting'],
    ['--resume runs/my-run', 'Resume a run'],
  ],
  options,
  renamed: renamedConfigFlags,
  run: async (parsed, context) => run(parsed, context),
};

/** `train` for a program of its own, which has a run file of its own. */
export const trainFrom = (usual: string): Command => ({
  ...train,
  run: async (parsed, context) => run(parsed, context, { usual }),
});

export const sft: Command = {
  name: 'sft',
  describe: 'Train a policy on demonstrations (supervised fine-tuning)',
  examples: [
    ['--config my_sft.yaml', 'Train on the conversations of dataset.dir'],
    ['--config my_sft.yaml --max-iterations 50', 'Stop after 50 updates'],
  ],
  options,
  renamed: renamedConfigFlags,
  run: async (parsed, context) =>
    run(parsed, context, {
      fixed: [{ source: 'agent-rl sft', path: 'train.mode', value: 'sft' }],
    }),
};
