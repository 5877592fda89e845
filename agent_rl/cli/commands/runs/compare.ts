import { command } from '../../command.ts';
import { requiredFlag } from '../../flags/flag.ts';

export const compare = command({
  name: 'compare <a> <b>',
  describe: 'Compare two runs on the same held-out tasks, and find where they part',
  examples: [
    [
      'runs/workspace_grpo-seed1 runs/workspace_grpo-seed2',
      'Difference with interval, settings, first token that differs',
    ],
  ],
  positionals: {
    a: requiredFlag('Folder of a run'),
    b: requiredFlag('Folder of the run that is compared with it'),
  },
  run: (flags, { jobs, job }) => jobs.compareRuns({ ...flags, ...job }),
});
