import { command } from '../command.ts';
import { count, numberFlag, requiredFlag } from '../flags/flag.ts';
import { modelFlags, modelJob } from '../flags/model-flags.ts';

export const score = command({
  name: 'score',
  describe: 'Write the log-probabilities of given token ids',
  examples: [
    ['--model model/starter --input ids.jsonl --output logprobs.jsonl', 'One line for each line'],
    [
      '--model Qwen/Qwen3-0.6B --quantize --input ids.jsonl --output logprobs.jsonl',
      'With the linear layers in four bits',
    ],
  ],
  flags: {
    ...modelFlags,
    input: requiredFlag('JSONL file of {"ids": [...]}, each with an optional "id" to give back'),
    output: requiredFlag('New JSONL file of {"logprobs": [null, ...]}, in the order of the input'),
    'batch-tokens': numberFlag(
      'Most tokens in one forward pass; fewer need less memory',
      count,
      4096,
    ),
  },
  run: (flags, { jobs, job }) => jobs.score({ ...modelJob(flags), ...job }),
});
