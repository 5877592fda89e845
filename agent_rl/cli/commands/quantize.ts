import { adapterTargetNames } from '../../core/linear-module.ts';
import type { Command } from '../command.ts';
import { textsOf } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';
import { revisionOf, revisionOption } from '../model-flags.ts';

export const quantize: Command = {
  name: 'quantize <model> <output>',
  describe: 'Write a model with its linear layers in four bits, and an adapter to train over it',
  positionals: {
    model: {
      type: 'string',
      demandOption: true,
      describe: 'Model folder, or a model of the hub as org/name',
    },
    output: { type: 'string', demandOption: true, describe: 'New folder' },
  },
  options: {
    revision: revisionOption,
    'block-size': {
      type: 'number',
      default: 64,
      requiresArg: true,
      describe: 'Weights that share a scale: a power of two from 16',
    },
    text: {
      type: 'string',
      requiresArg: true,
      describe: 'UTF-8 text to compare both models on; random tokens without it',
    },
    'text-tokens': {
      type: 'number',
      default: 2048,
      requiresArg: true,
      describe: 'Most tokens of it that are used',
    },
    'lora-rank': {
      type: 'number',
      default: 8,
      requiresArg: true,
      describe: 'Rank of the adapter; 0 writes none',
    },
    'lora-alpha': { type: 'number', default: 16, requiresArg: true, describe: 'Its alpha' },
    'lora-targets': {
      type: 'string',
      array: true,
      nargs: 1,
      describe: `Layers it is on: ${adapterTargetNames.join(', ')}; all-linear by default`,
    },
    seed: { type: 'number', default: 42, requiresArg: true, describe: "Keys the adapter's start" },
    device: {
      type: 'string',
      default: 'cpu',
      requiresArg: true,
      describe: 'cpu, cuda, cuda:N, webgpu or tensorflow',
    },
    'engine-threads': { type: 'number', requiresArg: true, describe: 'Engine threads' },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const { text, 'engine-threads': engineThreads } = parsed;
    const targets = textsOf(parsed['lora-targets']);
    const rank = Number(parsed['lora-rank']);
    const result = await jobs.quantize({
      model: String(parsed['model']),
      ...revisionOf(parsed),
      output: String(parsed['output']),
      blockSize: Number(parsed['block-size']),
      textTokens: Number(parsed['text-tokens']),
      seed: Number(parsed['seed']),
      device: String(parsed['device']),
      signal: io.signal,
      print: printer(io, json),
      ...(typeof text === 'string' && { text }),
      ...(typeof engineThreads === 'number' && { engineThreads }),
      ...(rank !== 0 && {
        lora: {
          rank,
          alpha: Number(parsed['lora-alpha']),
          targets: targets.length === 0 ? ['all-linear'] : targets,
        },
      }),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
