import { command } from '../command.ts';
import { optionsWithout } from '../flags/config-flags.ts';
import { numberFlag, textFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';

export const attack = command({
  name: 'attack',
  describe: 'Play cheating policies against the environment and rewards of a run file',
  examples: [
    ['--config my_run.yaml', 'Fails when a cheat earns more than an honest failure'],
    ['--config my_run.yaml --tasks 32 --json', 'On more tasks, with every attempt that was paid'],
  ],
  flags: {
    tasks: numberFlag('Tasks to attack, chosen by the seed; 8 otherwise', {
      from: 1,
      to: 1_000_000,
      whole: true,
    }),
    split: textFlag('Split of the tasks; dataset.trainSplit otherwise'),
  },
  settings: optionsWithout([
    'train-split',
    'eval-split',
    'preview-tasks',
    'output',
    'max-iterations',
    'log-rollouts',
  ]),
  run: async (flags, running) => {
    const file = configFor(undefined, running);
    return running.jobs.attack({ ...(await prepare(running, { file })), ...flags });
  },
});
