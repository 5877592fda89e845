import { command } from '../../command.ts';
import { count, numberFlag, requiredFlag } from '../../flags/flag.ts';

export const explain = command({
  name: 'explain <run>',
  describe: 'Diagnose why a run does not learn, or break down the update of one iteration',
  examples: [
    ['runs/workspace_grpo-seed42', 'Check known causes; print figures and what to try'],
    ['runs/workspace_grpo-seed42 --step 3', 'Show the groups, tokens and update of iteration 3'],
  ],
  positionals: { run: requiredFlag('Folder of a run') },
  flags: { step: numberFlag('Explain this iteration in detail', count) },
  run: (flags, { jobs, job }) => jobs.explain({ ...flags, ...job }),
});
