import type { Command, CommandGroup } from './command.ts';
import { acceptModel } from './commands/model/accept.ts';
import { algorithms } from './commands/listing/algorithms.ts';
import { attack } from './commands/attack.ts';
import { chat } from './commands/chat.ts';
import { compare } from './commands/runs/compare.ts';
import { diff, exportRun, replay, rescore } from './commands/runs/journal-commands.ts';
import { demonstrations } from './commands/runs/demonstrations.ts';
import { doctor } from './commands/doctor.ts';
import { evaluate } from './commands/eval.ts';
import { explain } from './commands/runs/explain.ts';
import { exportModel, quantize } from './commands/model/quantize.ts';
import { generate, score } from './commands/model/generate.ts';
import { importGguf } from './commands/model/import-gguf.ts';
import { indexCorpus } from './commands/data/index-corpus.ts';
import { newProject } from './commands/new.ts';
import { judgeCalibration } from './commands/data/judge-calibration.ts';
import { mergeLora } from './commands/model/merge-lora.ts';
import { plugins } from './commands/listing/plugins.ts';
import { prepareDataCommand } from './commands/prepare-data/prepare-data.ts';
import { report } from './commands/runs/report.ts';
import { sandbox } from './commands/sandbox.ts';
import { serve } from './commands/serve.ts';
import { show } from './commands/runs/show.ts';
import { sft, train } from './commands/train.ts';
import { view } from './commands/runs/view.ts';
import { verifyDataset } from './commands/data/verify-dataset.ts';

/** All commands, in the order of the help. */
export const commands: readonly (Command | CommandGroup)[] = [
  train,
  sft,
  evaluate,
  chat,
  serve,
  view,
  newProject,
  doctor,
  {
    name: 'plugins',
    describe: 'List plugins and algorithms, and find cheats that an environment rewards',
    commands: [plugins, algorithms, attack],
  },
  {
    name: 'runs',
    describe: 'Read recorded runs: episodes, causes, comparisons, reports',
    commands: [show, explain, compare, diff, replay, rescore, report, exportRun, demonstrations],
  },
  {
    name: 'model',
    describe: 'Use, convert and test a model folder',
    commands: [generate, score, mergeLora, quantize, exportModel, importGguf, acceptModel],
  },
  {
    name: 'data',
    describe: 'Create, index and check datasets',
    commands: [prepareDataCommand, indexCorpus, verifyDataset, judgeCalibration],
  },
  sandbox,
];
