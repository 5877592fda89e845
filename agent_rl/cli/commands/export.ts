import type { Command } from '../command.ts';
import { jsonFlag, textFlag, textsOf } from '../flags/flag.ts';
import { adapterOption, revisionOf, revisionOption } from '../flags/model-flags.ts';
import { printer, writeJson } from '../io.ts';

/** `agent-rl export` is named after what it does; `export` itself is not a name to export. */
export const exportModel: Command = {
  name: 'export',
  describe: 'Write a model for other programs: an ONNX folder that transformers.js generates from',
  examples: [
    ['--model runs/my-run --output my-model-onnx', 'The newest checkpoint of a run'],
    [
      '--model Qwen/Qwen3-0.6B --adapter runs/lora/checkpoints/step-40 --output my-model-onnx',
      'A model on the hub with an adapter added',
    ],
  ],
  options: {
    model: textFlag(
      'Model folder, run folder or checkpoint, or a model on the Hugging Face hub as org/name',
      { demandOption: true },
    ),
    revision: revisionOption,
    adapter: adapterOption,
    output: textFlag('New folder: config.json, the tokenizer and onnx/model.onnx in float32', {
      demandOption: true,
    }),
    json: jsonFlag,
  },
  renamed: { onnx: 'output' },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const result = await jobs.exportModel({
      model: String(parsed['model']),
      ...revisionOf(parsed),
      adapters: textsOf(parsed['adapter']),
      onnx: String(parsed['output']),
      signal: io.signal,
      print: printer(io, json),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
