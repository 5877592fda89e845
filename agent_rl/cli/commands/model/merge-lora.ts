import { command } from '../../command.ts';
import { aliased, listFlag, requiredFlag, textFlag } from '../../flags/flag.ts';
import { modelFlag, revisionFlag } from '../../flags/model-flags.ts';

const adapterFlag = listFlag(
  'Folder of a PEFT adapter; repeat the flag to add several adapters together',
);

export const mergeLora = command({
  name: 'merge-lora',
  describe: 'Merge LoRA adapters into the weights of their model',
  examples: [
    [
      '--model Qwen/Qwen3-0.6B --adapter runs/lora/checkpoints/step-40 --output merged --dtype BF16',
      'Merge the adapter of a checkpoint into its base model',
    ],
  ],
  flags: {
    model: aliased(modelFlag, 'base-model'),
    revision: revisionFlag,
    adapter: {
      ...adapterFlag,
      option: { ...adapterFlag.option, demandOption: true, alias: ['lora-model'] },
    },
    output: aliased(requiredFlag('New folder for the merged model'), 'output-path'),
    dtype: textFlag('Data type of the stored weights: F32, BF16 or F16', 'F32'),
  },
  run: ({ model, adapter, output, ...flags }, { jobs, job }) =>
    jobs.mergeLora({
      ...flags,
      baseModel: model,
      loraModels: adapter,
      outputPath: output,
      ...job,
    }),
});
