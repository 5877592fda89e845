import type { Command } from '../command.ts';
import { writeJson } from '../io.ts';
import { modelJob, modelOptions, numberFlag } from '../model-flags.ts';

export const score: Command = {
  name: 'score',
  describe: 'Log-probabilities of given token ids',
  options: {
    ...modelOptions,
    input: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'JSONL file of {"ids": [...]}, with an "id" to give back if need be',
    },
    output: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'New JSONL file of {"logprobs": [null, ...]}, in the order of the input',
    },
    'batch-tokens': {
      type: 'string',
      default: '4096',
      requiresArg: true,
      describe: 'Most tokens in one forward pass; fewer need less memory',
    },
  },
  run: async (parsed, { io, jobs }) => {
    const result = await jobs.score({
      ...modelJob(parsed, io),
      input: String(parsed['input']),
      output: String(parsed['output']),
      batchTokens: numberFlag(parsed, 'batch-tokens', { from: 1, whole: true }) ?? 4096,
    });
    if (parsed['json'] === true) writeJson(io, result);
    return 0;
  },
};
