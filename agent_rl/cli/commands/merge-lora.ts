import type { Command } from '../command.ts';
import { textsOf } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';
import { revisionOf, revisionOption } from '../model-flags.ts';

export const mergeLora: Command = {
  name: 'merge-lora',
  describe: 'Add adapters to the weights of their model',
  options: {
    'base-model': {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'Folder of the model, or a model of the hub as org/name',
    },
    revision: revisionOption,
    'lora-model': {
      type: 'string',
      array: true,
      nargs: 1,
      demandOption: true,
      describe: 'Folder of an adapter as PEFT stores it; several add up',
    },
    'output-path': {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'New folder of the merged model',
    },
    dtype: {
      type: 'string',
      default: 'F32',
      requiresArg: true,
      describe: 'How weights are stored: F32, BF16 or F16',
    },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const result = await jobs.mergeLora({
      baseModel: String(parsed['base-model']),
      ...revisionOf(parsed),
      loraModels: textsOf(parsed['lora-model']),
      outputPath: String(parsed['output-path']),
      dtype: String(parsed['dtype']),
      signal: io.signal,
      print: printer(io, json),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
