import { command } from '../../command.ts';
import { countOrZero, numberFlag, textFlag } from '../../flags/flag.ts';
import { engineFlags, modelFlag, revisionFlag } from '../../flags/model-flags.ts';
import { basename, resolve } from 'node:path';

/** `accept-Qwen3-0.6B` for Qwen/Qwen3-0.6B and for any folder of that name. */
const nameOfAcceptance = (model: string): string => `accept-${basename(resolve(model))}`;

export const acceptModel = command({
  name: 'accept',
  describe: 'Try out whether a model can be trained on this machine, and write a report to paste',
  examples: [
    ['--model Qwen/Qwen3-0.6B', 'Twenty iterations of arithmetic with a calculator'],
    [
      '--model my-model --iterations 4 --lora-rank 0 --out report.md',
      'Four, of the whole model; the exit code is 1 if a criterion is not met',
    ],
  ],
  flags: {
    model: modelFlag,
    revision: revisionFlag,
    iterations: numberFlag(
      'Iterations of the training, which is stopped and resumed in the middle',
      { from: 2, whole: true },
      20,
    ),
    'lora-rank': numberFlag('Rank of the adapter; 0 trains the whole model', countOrZero, 16),
    seed: numberFlag('Seed of the questions and of the run', countOrZero, 42),
    ...engineFlags,
    folder: textFlag('New folder for the run and the exported model (accept-MODEL)'),
    out: textFlag('File for the report, in Markdown (accept-MODEL.md)'),
  },
  run: ({ folder, out, ...flags }, { jobs, job }) => {
    const name = nameOfAcceptance(flags.model);
    return jobs.accept({ folder: folder ?? name, out: out ?? `${name}.md`, ...flags, ...job });
  },
});
