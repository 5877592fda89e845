import { command } from '../../command.ts';
import { requiredFlag, textFlag } from '../../flags/flag.ts';

export const importGguf = command({
  name: 'import-gguf <file> <folder>',
  describe: 'Convert a GGUF file (llama.cpp) to a Hugging Face model folder',
  examples: [
    [
      'SmolLM2-135M-Instruct.Q4_1.gguf smollm2',
      'Converts weights, tokenizer and chat template; reads Q4_0, Q4_1, Q8_0, F16, BF16 and F32',
    ],
  ],
  positionals: {
    file: requiredFlag('GGUF file'),
    folder: requiredFlag('New folder for the model'),
  },
  flags: {
    dtype: textFlag('Data type of the stored weights: F32, BF16 or F16', 'F32'),
    'chat-template': textFlag("File with a chat template to use instead of the model's own"),
  },
  run: (flags, { jobs, job }) => jobs.importGguf({ ...flags, ...job }),
});
