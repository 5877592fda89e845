import type { Options } from 'yargs';

import type { ModelJobOptions } from '../../jobs/models/model-choice.ts';
import { AgentRlError } from '../../core/errors.ts';
import { type Io, printer } from '../io.ts';
import {
  jsonFlag,
  listFlag,
  numberFlag,
  numberOf,
  type Parsed,
  switchFlag,
  textFlag,
  textsOf,
} from './flag.ts';

/** The model of a command that runs one or writes another from it. */
export const modelOption: Options = textFlag(
  'Model folder, or a model on the Hugging Face hub as org/name',
  { demandOption: true },
);

export const revisionOption: Options = textFlag(
  'Branch, tag or commit of a model on the hub; main by default',
);

export const adapterOption: Options = listFlag(
  'Folder of an adapter for the model; several are added up',
);

/** What `revisionOption` asks for. */
export const revisionOf = ({ revision }: Parsed): { revision?: string } =>
  typeof revision === 'string' ? { revision } : {};

/** What a command runs on, and how it answers. */
export const engineOptions: Readonly<Record<string, Options>> = {
  device: textFlag('cpu, cuda, cuda:N, webgpu or tensorflow', { default: 'cpu' }),
  'engine-threads': numberFlag('Threads for matrix products'),
  json: jsonFlag,
};

/** Flags of the commands that run a model by itself. */
export const modelOptions: Readonly<Record<string, Options>> = {
  model: modelOption,
  revision: revisionOption,
  adapter: adapterOption,
  quantize: switchFlag('Hold the linear layers in four bits, quantised while they are loaded'),
  'quantize-block-size': numberFlag(
    'Weights that share a scale with --quantize (64): a power of two, at least 16',
  ),
  ...engineOptions,
};

/** What `modelOptions` ask for. @throws AgentRlError `CONFIG_INVALID` */
export function modelJob(parsed: Parsed, io: Io): ModelJobOptions {
  const engineThreads = numberOf(parsed, 'engine-threads', { from: 1, whole: true });
  return {
    model: String(parsed['model']),
    device: String(parsed['device']),
    adapters: textsOf(parsed['adapter']),
    ...revisionOf(parsed),
    ...quantizationOf(parsed),
    ...(engineThreads !== undefined && { engineThreads }),
    signal: io.signal,
    print: printer(io, parsed['json'] === true),
  };
}

function quantizationOf(parsed: Parsed): Pick<ModelJobOptions, 'quantize'> {
  const blockSize = numberOf(parsed, 'quantize-block-size', { from: 16, whole: true });
  if (parsed['quantize'] === true) return { quantize: { bits: 4, blockSize: blockSize ?? 64 } };
  if (blockSize === undefined) return {};
  throw new AgentRlError(
    'CONFIG_INVALID',
    `--quantize-block-size ${blockSize} has no effect without --quantize. Give both or neither.`,
  );
}
