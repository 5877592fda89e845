import { command } from '../../command.ts';
import { count, numberFlag, requiredFlag } from '../../flags/flag.ts';

export const explain = command({
  name: 'explain <run>',
  describe: 'Say why a run does not learn, or why the gradient of one iteration is what it is',
  examples: [
    ['runs/workspace_grpo-seed42', 'A list of causes, each checked, with figures and what to try'],
    ['runs/workspace_grpo-seed42 --step 3', 'Groups, tokens and update of iteration 3'],
  ],
  positionals: { run: requiredFlag('Folder of a run') },
  flags: { step: numberFlag('One iteration, in detail', count) },
  run: (flags, { jobs, job }) => jobs.explain({ ...flags, ...job }),
});
