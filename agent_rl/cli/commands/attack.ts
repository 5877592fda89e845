import { command } from '../command.ts';
import { optionsOfUse } from '../flags/config-flags.ts';
import { numberFlag, textFlag } from '../flags/flag.ts';
import { configFor, prepare } from '../prepare.ts';

export const attack = command({
  name: 'attack',
  describe: 'Test the environment and rewards of a run file with policies that cheat',
  usage: '--config FILE',
  examples: [
    ['--config my_run.yaml', 'Exits with 1 if a cheat earns more than an honest failure'],
    ['--config my_run.yaml --tasks 32 --json', 'More tasks; lists every cheat that was rewarded'],
  ],
  flags: {
    tasks: numberFlag('Number of tasks to attack, chosen by the seed (default: 8)', {
      from: 1,
      to: 1_000_000,
      whole: true,
    }),
    split: textFlag('Split of the tasks (default: dataset.trainSplit)'),
  },
  settings: optionsOfUse(),
  run: async (flags, running) => {
    const file = configFor(undefined, running);
    return running.jobs.attack({ ...(await prepare(running, { file })), ...flags });
  },
});
