import { command } from '../../command.ts';
import { requiredFlag } from '../../flags/flag.ts';

export const compare = command({
  fits: true,
  name: 'compare <a> <b>',
  describe: 'Compare the held-out success of two runs, and find where they diverge',
  examples: [
    [
      'runs/workspace_grpo-seed1 runs/workspace_grpo-seed2',
      'Show the difference in success with its interval, and the settings and the first token that differ',
    ],
  ],
  positionals: {
    a: requiredFlag('Folder of a run'),
    b: requiredFlag('Folder of the run to compare with it'),
  },
  run: (flags, { jobs, job }) => jobs.compareRuns({ ...flags, ...job }),
});
