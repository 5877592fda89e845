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
  describe:
    'Write the best episodes of a run as conversations for supervised training (rejection sampling)',
  examples: [
    ['runs/workspace_grpo-seed42 --success', 'All successful episodes, without duplicates'],
    [
      'runs/my-run --min-reward 0.8 --per-task 1 --output good/train.jsonl',
      'The best episode of each task, if its reward is at least 0.8',
    ],
  ],
  positionals: { run: requiredFlag('Folder of a run') },
  flags: {
    success: switchFlag('Only successful episodes'),
    'min-reward': numberFlag('Only episodes with at least this reward', { from: -Infinity }),
    step: numberFlag('Only episodes of this iteration', countOrZero),
    'per-task': numberFlag('Keep at most this many episodes per task, by highest reward', count),
    output: textFlag('New JSONL file (default: demonstrations/train.jsonl in the run folder)'),
  },
  run: (flags, { jobs, job }) => jobs.demonstrations({ ...flags, ...job }),
});
