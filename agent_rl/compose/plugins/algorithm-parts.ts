import type { Config } from '../../config/index.ts';
import { enterPlugin } from '../../core/plugins/entered-plugin.ts';
import { compiledTwin } from '../../threads/thread.ts';
import type { AlgorithmOptions, AlgorithmParts } from '../../trainer/training-options.ts';
import type { Chosen, ChosenPlugins } from './choose-plugins.ts';

/** The parts of an algorithm that a run file names. */
export type PartName = 'advantage' | 'loss' | 'correction' | 'selection';

/** A KL term, in the loss or subtracted from rewards. */
export function klParts({
  kind,
  weight,
  in: where,
}: Config['algorithm']['kl']): Pick<AlgorithmOptions, 'kl' | 'klInReward'> {
  if (where === 'loss' || kind === 'none') return { kl: { kind, weight } };
  return { kl: { kind: 'none', weight: 0 }, klInReward: { kind, weight } };
}

/** What a teacher does, where there is one: with a hint, the policy itself is. */
export function distillParts({
  teacher,
  ...distill
}: Config['algorithm']['distill']): Pick<AlgorithmOptions, 'distill'> {
  return teacher === undefined && distill.hint === undefined ? {} : { distill };
}

/** The parts of the algorithm that a run uses, each with its settings. */
export function algorithmParts({
  advantage,
  loss,
  correction,
  selection,
}: Pick<ChosenPlugins, PartName>): AlgorithmParts {
  return {
    advantage: partOf('advantage', advantage),
    loss: lossPart(loss),
    // Without a correction, no sequences have to be scored.
    correction:
      correction.entry.spec.name === 'none' ? undefined : partOf('correction', correction),
    selection: partOf('selection', selection),
  };
}

/** A part that is a function, called with its settings after what it is for. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its kind says what a part is
function partOf<Given, Made, More extends readonly unknown[] = []>(
  kind: string,
  { entry: { spec, plugin }, settings }: Chosen<{ name: string }>,
): { name: string; of: (given: Given, ...more: More) => Made } {
  const of = (given: Given, ...more: More): Made => {
    enterPlugin(`${kind} "${spec.name}"`);
    return (plugin as (given: Given, settings: unknown, ...more: More) => Made)(
      given,
      settings,
      ...more,
    );
  };
  return { name: spec.name, of };
}

/** A loss as it is passed to the learner. */
export function lossPart({ entry, settings }: ChosenPlugins['loss']): AlgorithmParts['loss'] {
  const { name, module } = entry.spec;
  return {
    type: name,
    settings,
    ...(module !== undefined && { module: compiledTwin(new URL(module)).href }),
  };
}
