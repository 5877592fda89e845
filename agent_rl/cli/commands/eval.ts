import { command } from '../command.ts';
import { evaluationOptions, optionsOfUse, refuseBoth } from '../flags/config-flags.ts';
import { AgentRlError } from '../../core/errors.ts';
import { runFileOf } from '../../runs/run-folder.ts';
import { type Flag, quietFlag, textFlag, textOf, textsOf } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';

/** The checkpoint that a command takes instead of the model of a run file. */
export const checkpointWord = textFlag(
  'Run folder or checkpoint (default: the model of the run file)',
);

/** The policy that a command uses, of a run with several. */
export const policyFlag = textFlag(
  'Name of a policy under policies, used instead of the one at the top level (default: policy)',
);

const checkpoints: Flag<string[]> = {
  option: {
    type: 'string',
    array: true,
    describe:
      'Run folders, checkpoints or model folders; two or more are compared in one table (default: the model of the run file)',
  },
  read: (given) => textsOf(given).map((one) => textOf(one, 'checkpoint')),
};

/** `agent-rl eval` is named after what it does; `eval` itself is not a name to export. */
export const evaluate = command({
  fits: true,
  name: 'eval [checkpoints..]',
  describe: 'Evaluate models or checkpoints on held-out tasks',
  usage: '[--config FILE]',
  examples: [
    ['runs/my-run', "The newest checkpoint of a run, with the run's config"],
    [
      'runs/my-run --split test --samples 8 --temperature 1',
      'Eight attempts at each task of another split, with pass@k and avg@k',
    ],
    [
      'runs/my-run --samples 8 --temperature 1 --strategy majority',
      'Majority vote over eight attempts',
    ],
    [
      'runs/my-run runs/other/checkpoints/step-20 model/base',
      'Several models on the tasks of the first run, in one table',
    ],
    ['--config my_run.yaml --model Qwen/Qwen3-0.6B', 'A model before training'],
  ],
  positionals: { checkpoints },
  flags: {
    split: textFlag('Split to evaluate on (default: dataset.evalSplit)'),
    policy: policyFlag,
    quiet: quietFlag,
  },
  settings: {
    ...optionsOfUse(),
    ...evaluationOptions,
  },
  run: async (flags, running) => {
    const { checkpoints: named, ...given } = flags;
    // Late, so that `--help` does not load every kind of plugin.
    const { callInstead } = await import('../../jobs/code/call-instead.ts');
    const [checkpoint] = named;
    refuseBoth({ ...running.parsed, checkpoint }, 'checkpoint', 'model');
    if (named.length < 2) {
      const file = configFor(checkpoint, running);
      const instead = callInstead.evaluate(checkpoint ?? file);
      const prepared = await prepare(running, { file, instead });
      return running.jobs.evaluate({ ...prepared, ...given, checkpoint });
    }
    const ofRun = named.find((folder) => runFileOf(folder) !== undefined);
    if (ofRun === undefined && running.parsed['config'] === undefined)
      throw new AgentRlError(
        'CONFIG_INVALID',
        `${named.join(', ')} are not part of a run, so the tasks to attempt are unknown. Name a run file with --config.`,
      );
    const file = configFor(ofRun, running);
    const instead = callInstead.evaluate(ofRun ?? file);
    const prepared = await prepare(running, { file, instead });
    return running.jobs.evaluateSeveral({ ...prepared, ...given, checkpoints: named });
  },
});
