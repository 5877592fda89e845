import { command } from '../../command.ts';
import { requiredFlag } from '../../flags/flag.ts';

export const compare = command({
  fits: true,
  name: 'compare <a> <b>',
  describe: 'Compare the held-out success of two runs, and find where they diverge',
  examples: [
    [
      'runs/workspace_grpo-seed1 runs/workspace_grpo-seed2',
      'Show the difference in success, the settings that differ and the first token that differs',
    ],
  ],
  positionals: {
    a: requiredFlag('Folder of a run'),
    b: requiredFlag('Folder of the other run'),
  },
  run: (flags, { jobs, job }) => jobs.compareRuns({ ...flags, ...job }),
});
