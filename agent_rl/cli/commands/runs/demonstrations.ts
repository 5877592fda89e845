import { command } from '../../command.ts';
import {
  count,
  countOrZero,
  numberFlag,
  requiredFlag,
  switchFlag,
  textFlag,
} from '../../flags/flag.ts';

export const demonstrations = command({
  name: 'demonstrations <run>',
  describe: 'Write the good episodes of a run as conversations to imitate: rejection sampling',
  examples: [
    ['runs/workspace_grpo-seed42 --success', 'All different episodes that succeeded'],
    [
      'runs/my-run --min-reward 0.8 --per-task 1 --output good/train.jsonl',
      'The best of each task, if it earned enough',
    ],
  ],
  positionals: { run: requiredFlag('Folder of a run') },
  flags: {
    success: switchFlag('Only episodes that succeeded'),
    'min-reward': numberFlag('Only episodes with this reward or more', { from: -Infinity }),
    step: numberFlag('Only episodes of this iteration', countOrZero),
    'per-task': numberFlag('At most so many of a task, those with the highest reward', count),
    output: textFlag('New JSONL file; demonstrations/train.jsonl in the folder of the run'),
  },
  run: (flags, { jobs, job }) => jobs.demonstrations({ ...flags, ...job }),
});
