import { command } from '../../command.ts';
import { requiredFlag, textFlag } from '../../flags/flag.ts';

export const importGguf = command({
  name: 'import-gguf <file> <folder>',
  describe: 'Write the model of a GGUF file, as llama.cpp has it, as a Hugging Face folder',
  examples: [
    [
      'SmolLM2-135M-Instruct.Q4_1.gguf smollm2',
      'Weights, tokenizer and chat template; Q4_0, Q4_1, Q8_0, F16, BF16 and F32 are read',
    ],
  ],
  positionals: {
    file: requiredFlag('GGUF file'),
    folder: requiredFlag('New folder for the model'),
  },
  flags: {
    dtype: textFlag('How the weights are stored: F32, BF16 or F16', 'F32'),
    'chat-template': textFlag('File of a chat template to use in place of the one of the model'),
  },
  run: (flags, { jobs, job }) => jobs.importGguf({ ...flags, ...job }),
});
