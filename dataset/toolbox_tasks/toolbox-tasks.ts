import { choice, number, within } from '../../agent_rl/config/blocks/block.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { taskGenerator, type TaskGenerator } from '../../agent_rl/core/tasks/task-generator.ts';
import { type Static, Type } from '../../agent_rl/core/typebox.ts';
import { slicedEvaluation } from '../sliced-evaluation.ts';
import { drawTask, type TaskKind, type ToolboxTask } from './generator/task.ts';
import { newOperations, trainedOperations as around } from './generator/texts.ts';
import { perturbations } from './generator/tool.ts';

const version = 1;

type Slice = Omit<TaskKind, 'use' | 'tools' | 'perturb'>;

const trained: Slice = { asked: around, around, names: 'trained', shapes: ['flat'], count: [3, 6] };

/** What only the evaluation has, each apart from the others. */
const slices: Readonly<Record<string, Slice>> = {
  'new names': { ...trained, names: 'new' },
  'new operations': { ...trained, asked: newOperations, around: around.concat(newOperations) },
  'new shapes': { ...trained, shapes: ['optional', 'nested', 'list'] },
  'more tools': { ...trained, count: [8, 9] },
};
const sliceNames = Object.keys(slices);

/** The generator's block in YAML. */
export const ToolboxTaskSettings = Type.Object(
  {
    ...slicedEvaluation(sliceNames, sliceNames).properties,
    tools: choice(
      'random: each task draws names, descriptions and arguments. fixed: one tool for an operation, except in new names',
      ['random', 'fixed'],
      'random',
    ),
    trainOn: choice(
      'Which tools training tasks need: trained ones, or the tools of a slice',
      ['trained', ...sliceNames],
      'trained',
    ),
    removedShare: number(
      'Share of training tasks whose tool is missing; right is "no tool"',
      within(0, 1, 0.1),
    ),
    perturb: choice(
      'Only in the evaluation. removed: the tool that gives the answer is missing. lying: it returns a wrong value, which is to be repeated. renamed: names of tools and arguments are drawn again; plain: those that say what they are. wordy: longer descriptions',
      [...perturbations],
      'none',
    ),
  },
  { additionalProperties: false },
);
export type ToolboxTaskSettings = Static<typeof ToolboxTaskSettings>;

/** A task to train on: task i depends on the settings, the seed and i alone. Warm-ups draw other tasks than runs do. */
export function trainedTask(
  { tools, trainOn, removedShare }: ToolboxTaskSettings,
  ...[use, seed, index]: [use: 'train' | 'warm-up', seed: number, index: number]
): ToolboxTask {
  const rng = new KeyedRng(seed, 'toolbox', version, use, index);
  const perturb = rng.child('removed').uniform() < removedShare ? 'removed' : 'none';
  return drawTask({ ...(slices[trainOn] ?? trained), use, tools, perturb }, rng);
}

/** Questions that each bring their tools, see `CARD.md`. */
@taskGenerator({
  name: 'toolbox',
  description:
    'Questions with tools of their own, whose names say nothing, for the environment toolbox.',
  version,
  taskFormat: 'question',
  settings: ToolboxTaskSettings,
})
export class ToolboxTasks implements TaskGenerator {
  constructor(private readonly given: { settings: ToolboxTaskSettings }) {}

  train(seed: number, index: number) {
    const task = trainedTask(this.given.settings, 'train', seed, index);
    return { task_id: `toolbox-${seed}-${index}`, ...task };
  }

  evaluation() {
    const { evalTasks, slices: names, tools, perturb } = this.given.settings;
    return ['trained', ...names].flatMap((name) =>
      Array.from({ length: evalTasks }, (_, index) => {
        const rng = new KeyedRng('toolbox', version, 'eval', name, index);
        const kind = { ...(slices[name] ?? trained), use: 'eval', tools, perturb } as const;
        const slice = name in slices && { slice: name };
        const id = `eval-${name.replaceAll(' ', '-')}-${index}`;
        return { task_id: id, ...drawTask(kind, rng), ...slice };
      }),
    );
  }
}
