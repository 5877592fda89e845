import type { Command } from '../command.ts';
import { jsonFlag, textFlag, textsOf } from '../flags/flag.ts';
import { adapterOption, modelOption, revisionOf, revisionOption } from '../flags/model-flags.ts';
import { printer, writeJson } from '../io.ts';

export const mergeLora: Command = {
  name: 'merge-lora',
  describe: 'Add adapters to the weights of their model',
  examples: [
    [
      '--model Qwen/Qwen3-0.6B --adapter runs/lora/checkpoints/step-40 --output merged --dtype BF16',
      'The model that an adapter was trained on, with the adapter added',
    ],
  ],
  options: {
    model: modelOption,
    revision: revisionOption,
    adapter: {
      ...adapterOption,
      demandOption: true,
      describe: 'Folder of an adapter as PEFT stores it; several are added up',
    },
    output: textFlag('New folder for the merged model', { demandOption: true }),
    dtype: textFlag('How the weights are stored: F32, BF16 or F16', { default: 'F32' }),
    json: jsonFlag,
  },
  renamed: { 'base-model': 'model', 'lora-model': 'adapter', 'output-path': 'output' },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const result = await jobs.mergeLora({
      baseModel: String(parsed['model']),
      ...revisionOf(parsed),
      loraModels: textsOf(parsed['adapter']),
      outputPath: String(parsed['output']),
      dtype: String(parsed['dtype']),
      signal: io.signal,
      print: printer(io, json),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
