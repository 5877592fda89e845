import { callInstead } from '../../jobs/code/call-instead.ts';
import { trainingJob } from '../../jobs/jobs.ts';
import type { Needs } from '../../compose/program-parts.ts';
import type { Override } from '../../config/index.ts';
import { type Command, command } from '../command.ts';
import { configOptions, renamedConfigFlags } from '../flags/config-flags.ts';
import { type Flag, quietFlag, switchFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';

const resume: Flag<string | undefined> = {
  option: {
    type: 'string',
    describe: 'Run folder to resume; the newest run when none is named',
  },
  read: (given) => (typeof given === 'string' ? given || 'newest' : undefined),
};

interface Preset extends Pick<Command, 'name' | 'describe' | 'examples'> {
  /** Run file of `configs/` when none is named. */
  usual?: string;
  fixed?: readonly Override[];
  /** Of the run file, where a new run begins from it. */
  needs?: Needs;
}

const taughtWithout = () => 'conversations that name no tools are taught without any.';

const trainingCommand = ({ usual, fixed = [], needs = 'all', ...described }: Preset): Command =>
  command({
    ...described,
    flags: {
      resume,
      'allow-other-machine': switchFlag(
        'Resume with other engine threads or on another device all the same',
      ),
      profile: switchFlag(
        'Write what each thread did to profile.json of the run, for the trace viewer of Chrome, Edge or Perfetto',
      ),
      quiet: quietFlag,
      'dry-run': switchFlag('Check everything, print the plan and stop'),
    },
    settings: configOptions,
    renamed: renamedConfigFlags,
    run: async (flags, running) => {
      const folder = running.parsed['resume'];
      const otherwise = configFor(folder, running, usual);
      const training = folder === undefined ? 'new' : 'resumed';
      const ofProgram =
        folder === undefined && needs === 'model'
          ? { needs, instead: taughtWithout }
          : { instead: callInstead.train(flags.resume) };
      const job = await prepare(running, {
        otherwise,
        fixed,
        logs: true,
        training,
        ...ofProgram,
      });
      return running.jobs[trainingJob(job.loaded.config)]({ ...job, ...flags });
    },
  });

const asTrain = {
  name: 'train',
  describe: 'Train a policy by reinforcement learning, or on demonstrations if train.mode is sft',
  examples: [
    ['--config my_run.yaml --dry-run', 'Check a run file and print the plan'],
    ['--config my_run.yaml --set rollout.groupSize=16', 'Train with another setting'],
    ['--resume runs/my-run', 'Resume a run'],
  ],
} satisfies Preset;

/** `train` with another run file of `configs/` when none is named, for a program of its own. */
export const trainFrom = (usual: string): Command => trainingCommand({ ...asTrain, usual });

export const train = trainFrom('workspace_grpo.yaml');

export const sft = trainingCommand({
  name: 'sft',
  describe: 'Train a policy on demonstrations (supervised fine-tuning)',
  examples: [
    ['--config my_sft.yaml', 'Train on the conversations of dataset.dir'],
    ['--config my_sft.yaml --max-iterations 50', 'Stop after 50 updates'],
  ],
  fixed: [{ source: 'agent-rl sft', path: 'train.mode', value: 'sft' }],
  needs: 'model',
});
