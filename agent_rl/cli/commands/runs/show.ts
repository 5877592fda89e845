import { command } from '../../command.ts';
import { numberFlag, requiredFlag, switchFlag, textFlag } from '../../flags/flag.ts';

export const show = command({
  name: 'show <run>',
  describe: 'Show the episodes of a run: messages, tool calls, rewards',
  examples: [
    ['runs/workspace_grpo-seed42', 'List the episodes of the newest iteration'],
    ['runs/workspace_grpo-seed42 --worst 3', 'Print the three episodes with the lowest reward'],
    ['runs/workspace_grpo-seed42 --episode train/3/0/2/1', 'One episode'],
    [
      'runs/workspace_grpo-seed42 --held-out --step 0',
      'List the held-out attempts before training',
    ],
  ],
  positionals: { run: requiredFlag('Folder of a run') },
  flags: {
    episode: textFlag('Print this episode; the list shows ids such as train/3/0/2/1'),
    worst: numberFlag('Print this number of episodes with the lowest reward', {
      from: 1,
      whole: true,
    }),
    step: numberFlag('Episodes of this iteration (default: the newest)', { from: 0, whole: true }),
    'held-out': switchFlag('Held-out episodes instead of training episodes'),
    hidden: switchFlag('Also show what the policy could not see, such as hidden tests'),
  },
  run: (flags, { jobs, job }) => jobs.showRun({ ...flags, ...job }),
});
