import { join } from 'node:path';

import { trainingJob } from '../../jobs/jobs.ts';
import type { Needs } from '../../compose/plugins/kinds.ts';
import type { Override } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { packageRoot } from '../../core/package-root.ts';
import { type Command, command } from '../command.ts';
import { configOptions } from '../flags/config-flags.ts';
import { type Flag, quietFlag, switchFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';

const resume: Flag<string | undefined> = {
  option: {
    type: 'string',
    describe:
      'Run folder to resume; without a value, the newest run of the file given with --config',
  },
  read: (given) => (typeof given === 'string' ? given || 'newest' : undefined),
};

interface Preset extends Pick<Command, 'name' | 'describe' | 'examples' | 'usage'> {
  /** Run file of `configs/` when none is named; without it one must be named. */
  usual?: string;
  /** Run files of `configs/` that are proposed where none is named. */
  ready?: readonly string[];
  fixed?: readonly Override[];
  /** Of the run file, where a new run begins from it. */
  needs?: Needs;
}

/** Run files of `configs/` that need neither data nor a model made by another command. */
const readyToTrain = [
  'code_exec_smoke',
  'search_qa_grpo',
  'workspace_grpo',
  'code_exec_grpo',
  'mixed_grpo',
];

function refuseWithoutRunFile(name: string, ready: readonly string[] = []): never {
  const lines = ready.map((file) => `\n  npx agent-rl ${name} --config configs/${file}.yaml`);
  throw new AgentRlError(
    'CONFIG_INVALID',
    `agent-rl ${name} needs --config FILE to start from a run file, or --resume RUN to continue a run. npx agent-rl new NAME creates a project with run files. The package has run files in ${join(packageRoot(), 'configs')}${lines.length === 0 ? '.' : ', such as:'}${lines.join('')}`,
  );
}

const taughtWithout = () => 'conversations that list no tools are then trained on without tools.';

const trainingCommand = ({
  usual,
  ready,
  fixed = [],
  needs = 'all',
  ...described
}: Preset): Command =>
  command({
    fits: true,
    ...described,
    flags: {
      resume,
      'allow-other-machine': switchFlag(
        'Resume even if the number of engine threads or the device has changed',
      ),
      profile: switchFlag(
        "Record each thread's activity to profile.json in the run folder, for the trace viewer of Chrome, Edge or Perfetto",
      ),
      quiet: quietFlag,
      'dry-run': switchFlag(
        'Check everything the run needs, print the plan with tokens and memory, and stop',
      ),
      measure: switchFlag(
        "With --dry-run: measure this machine's speed and estimate how long the run will take",
      ),
    },
    settings: configOptions,
    run: async (flags, running) => {
      const { config, resume: folder } = running.parsed;
      const isNamed = config !== undefined || (folder !== undefined && folder !== '');
      if (!isNamed && usual === undefined) refuseWithoutRunFile(described.name, ready);
      // Late, so that `--help` does not load every kind of plugin.
      const { callInstead } = await import('../../jobs/code/call-instead.ts');
      const file = configFor(folder, running, usual);
      const ofProgram =
        folder === undefined && needs === 'model'
          ? { needs, instead: taughtWithout }
          : { instead: callInstead.train(flags.resume) };
      const job = await prepare(running, {
        file,
        fixed,
        logs: true,
        training: true,
        ...ofProgram,
      });
      return running.jobs[trainingJob(job.loaded.config)]({ ...job, ...flags });
    },
  });

const asTrain = {
  name: 'train',
  describe: 'Train a policy with reinforcement learning, or on demonstrations if train.mode is sft',
  usage: '--config FILE',
  examples: [
    ['--config my_run.yaml --dry-run', 'Check a run file and print the plan'],
    ['--config my_run.yaml --set rollout.groupSize=16', 'Train with a changed setting'],
    ['--resume runs/my-run', 'Resume a run'],
  ],
} satisfies Preset;

/** `train` with another run file of `configs/` when none is named, for a program of its own. */
export const trainFrom = (usual: string): Command =>
  trainingCommand({ ...asTrain, usage: '[--config FILE]', usual });

export const train = trainingCommand({ ...asTrain, ready: readyToTrain });

export const sft = trainingCommand({
  name: 'sft',
  describe: 'Train a policy on demonstrations (supervised fine-tuning)',
  usage: '--config FILE',
  examples: [
    ['--config my_sft.yaml', 'Train on the conversations that the run file names under datasets'],
    ['--config my_sft.yaml --max-iterations 50', 'Stop after 50 updates'],
  ],
  fixed: [{ source: 'agent-rl sft', path: 'train.mode', value: 'sft' }],
  needs: 'model',
});
