import { command } from '../../command.ts';
import { countOrZero, numberFlag, textFlag } from '../../flags/flag.ts';
import { engineFlags, modelFlag, revisionFlag } from '../../flags/model-flags.ts';
import { basename, resolve } from 'node:path';

/** `accept-Qwen3-0.6B` for Qwen/Qwen3-0.6B and for any folder of that name. */
const nameOfAcceptance = (model: string): string => `accept-${basename(resolve(model))}`;

export const acceptModel = command({
  name: 'accept',
  describe:
    'Acceptance test: train a model briefly, check that everything works on this machine, and write a report',
  examples: [
    ['--model Qwen/Qwen3-0.6B', 'Train for 20 iterations on arithmetic with a calculator'],
    [
      '--model my-model --iterations 4 --lora-rank 0 --out report.md',
      'Train the whole model for 4 iterations; the exit code is 1 if a check fails',
    ],
  ],
  flags: {
    model: modelFlag,
    revision: revisionFlag,
    iterations: numberFlag(
      'Training iterations; the training is stopped and resumed halfway',
      { from: 2, whole: true },
      20,
    ),
    'lora-rank': numberFlag('Rank of the adapter; 0 trains the whole model', countOrZero, 16),
    seed: numberFlag('Seed of the questions and of the run', countOrZero, 42),
    ...engineFlags,
    folder: textFlag('New folder for the run and the exported model (default: accept-MODEL)'),
    out: textFlag('Markdown file for the report (default: accept-MODEL.md)'),
  },
  run: ({ folder, out, ...flags }, { jobs, job }) => {
    const name = nameOfAcceptance(flags.model);
    return jobs.accept({ folder: folder ?? name, out: out ?? `${name}.md`, ...flags, ...job });
  },
});
