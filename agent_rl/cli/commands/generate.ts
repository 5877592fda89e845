import type { GenerateOptions } from '../../jobs/job.ts';
import type { Command } from '../command.ts';
import type { Parsed } from '../config-flags.ts';
import { writeJson } from '../io.ts';
import { modelJob, modelOptions, numberFlag, type NumberRange } from '../model-flags.ts';

/** A flag that is a number, with the value it has when it is not given. */
const number = (otherwise: number, describe: string) => ({
  type: 'string' as const,
  default: String(otherwise),
  requiresArg: true,
  describe,
});

const text = (describe: string) => ({ type: 'string' as const, requiresArg: true, describe });

export const generate: Command = {
  name: 'generate',
  describe: 'Continue conversations or token ids, greedily or sampled',
  options: {
    ...modelOptions,
    input: text('JSONL file of {"messages": [...], "tools"?: [...]} and {"ids": [...]}'),
    prompt: text('What a user says, instead of a file'),
    output: text('New JSONL file; without one --prompt shows its answers'),
    tools: text('JSON file of the tools that conversations without their own are told of'),
    thinking: { type: 'boolean', default: false, describe: 'Let the model think before it speaks' },
    'max-tokens': number(128, 'Most tokens of an answer'),
    temperature: number(1, '0 takes the likeliest token'),
    'top-k': number(0, 'Keep the k likeliest tokens; 0 is off'),
    'top-p': number(1, 'Keep the likeliest tokens up to this mass; 1 is off'),
    'min-p': number(0, 'Keep tokens this share as likely as the likeliest; 0 is off'),
    seed: number(0, 'Of all draws'),
    samples: number(1, 'Answers to each line'),
    batch: number(16, 'Answers in flight; they do not depend on it'),
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
  // Each of these flags has a default.
  const of = (flag: string, range: NumberRange): number =>
    numberFlag(parsed, flag, range) as number;
  const count = { from: 1, whole: true };
  return {
    maxTokens: of('max-tokens', count),
    sampling: {
      temperature: of('temperature', { from: 0 }),
      topK: of('top-k', { from: 0, whole: true }),
      topP: of('top-p', { from: 0, above: true, to: 1 }),
      minP: of('min-p', { from: 0, to: 1 }),
    },
    seed: of('seed', { from: 0, whole: true }),
    samples: of('samples', count),
    batch: of('batch', count),
  };
}
