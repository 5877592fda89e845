import type { GenerateOptions } from '../../jobs/token-files/generate.ts';
import type { Command } from '../command.ts';
import { numberFlag, numberGiven, type Parsed, switchFlag, textFlag } from '../flags/flag.ts';
import { modelJob, modelOptions } from '../flags/model-flags.ts';
import { writeJson } from '../io.ts';

export const generate: Command = {
  name: 'generate',
  describe: 'Continue conversations or token ids, greedily or sampled',
  examples: [
    ['--model model/starter --prompt "What is 2 + 2?"', 'One answer, on the terminal'],
    [
      '--model Qwen/Qwen3-0.6B --input prompts.jsonl --output answers.jsonl --samples 4',
      'Four answers to each line of a file',
    ],
  ],
  options: {
    ...modelOptions,
    input: textFlag('JSONL file of {"messages": [...], "tools"?: [...]} and {"ids": [...]}'),
    prompt: textFlag('What a user says, in place of a file'),
    output: textFlag('New JSONL file; without it, --prompt prints its answers'),
    tools: textFlag('JSON file of tools for the conversations that name none of their own'),
    thinking: switchFlag('Let the model think before it answers'),
    'max-tokens': numberFlag('Most tokens in an answer', 128),
    temperature: numberFlag('0 takes the most likely token', 1),
    'top-k': numberFlag('Keep the k most likely tokens; 0 is off', 0),
    'top-p': numberFlag('Keep the most likely tokens up to this probability mass; 1 is off', 1),
    'min-p': numberFlag('Keep tokens this fraction as likely as the most likely; 0 is off', 0),
    seed: numberFlag('Seed of everything random', 0),
    samples: numberFlag('Answers to each line', 1),
    batch: numberFlag('Answers in flight; the answers do not depend on it', 16),
  },
  run: async (parsed, { io, jobs }) => {
    const result = await jobs.generate({
      ...modelJob(parsed, io),
      ...files(parsed),
      thinking: parsed['thinking'] === true,
      ...numbers(parsed),
    });
    if (parsed['json'] === true) writeJson(io, result);
    return 0;
  },
};

function files(parsed: Parsed): Pick<GenerateOptions, 'input' | 'prompt' | 'output' | 'tools'> {
  const { input, prompt, output, tools } = parsed;
  return {
    ...(typeof input === 'string' && { input }),
    ...(typeof prompt === 'string' && { prompt }),
    ...(typeof output === 'string' && { output }),
    ...(typeof tools === 'string' && { tools }),
  };
}

function numbers(parsed: Parsed) {
  const count = { from: 1, whole: true };
  return {
    maxTokens: numberGiven(parsed, 'max-tokens', count),
    sampling: {
      temperature: numberGiven(parsed, 'temperature', { from: 0 }),
      topK: numberGiven(parsed, 'top-k', { from: 0, whole: true }),
      topP: numberGiven(parsed, 'top-p', { from: 0, above: true, to: 1 }),
      minP: numberGiven(parsed, 'min-p', { from: 0, to: 1 }),
    },
    seed: numberGiven(parsed, 'seed', { from: 0, whole: true }),
    samples: numberGiven(parsed, 'samples', count),
    batch: numberGiven(parsed, 'batch', count),
  };
}
