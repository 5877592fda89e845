import { command } from '../../command.ts';
import { numberFlag, requiredFlag, switchFlag, textFlag } from '../../flags/flag.ts';

export const show = command({
  name: 'show <run>',
  describe: 'Show the episodes of a run: what was said, what tools did, how it was judged',
  examples: [
    ['runs/workspace_grpo-seed42', 'A line for each episode of the newest iteration'],
    ['runs/workspace_grpo-seed42 --worst 3', 'The three with the lowest reward, whole'],
    ['runs/workspace_grpo-seed42 --episode train/3/0/2/1', 'One episode'],
    ['runs/workspace_grpo-seed42 --held-out --step 0', 'Held-out attempts before training'],
  ],
  positionals: { run: requiredFlag('Folder of a run') },
  flags: {
    episode: textFlag('One episode, whole, as the list names it: train/3/0/2/1'),
    worst: numberFlag('So many with the lowest reward, whole', { from: 1, whole: true }),
    step: numberFlag('Episodes of this iteration; the newest otherwise', { from: 0, whole: true }),
    'held-out': switchFlag('Held-out episodes instead of those that were trained on'),
    hidden: switchFlag('Also what the policy could not see, such as hidden tests'),
  },
  run: (flags, { jobs, job }) => jobs.showRun({ ...flags, ...job }),
});
