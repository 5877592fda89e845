import { command } from '../command.ts';
import { requiredFlag } from '../flags/flag.ts';
import { adapterFlag, revisionFlag } from '../flags/model-flags.ts';

/** `agent-rl export` is named after what it does; `export` itself is not a name to export. */
export const exportModel = command({
  name: 'export',
  describe: 'Write a model for other programs: an ONNX folder that transformers.js generates from',
  examples: [
    ['--model runs/my-run --output my-model-onnx', 'The newest checkpoint of a run'],
    [
      '--model Qwen/Qwen3-0.6B --adapter runs/lora/checkpoints/step-40 --output my-model-onnx',
      'A model on the hub with an adapter added',
    ],
  ],
  flags: {
    model: requiredFlag(
      'Model folder, run folder or checkpoint, or a model on the Hugging Face hub as org/name',
    ),
    revision: revisionFlag,
    adapter: adapterFlag,
    output: requiredFlag('New folder: config.json, the tokenizer and onnx/model.onnx in float32'),
  },
  renamed: { onnx: 'output' },
  run: ({ adapter: adapters, output: onnx, ...flags }, { jobs, job }) =>
    jobs.exportModel({ ...flags, adapters, onnx, ...job }),
});
