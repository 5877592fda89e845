import type { Config } from '../../config/index.ts';
import type { AdvantageFunction } from '../../core/algorithm/advantage.ts';
import type { CorrectionFunction } from '../../core/algorithm/correction.ts';
import type { SelectionFunction } from '../../core/algorithm/selection.ts';
import { enterPlugin } from '../../core/plugins/entered-plugin.ts';
import { compiledTwin } from '../../threads/thread.ts';
import type { AlgorithmOptions, AlgorithmParts } from '../../trainer/training-options.ts';
import type { ChosenPlugins } from './choose-plugins.ts';

/** The parts of an algorithm that a run file names. */
export type PartName = 'advantage' | 'loss' | 'correction' | 'selection';

/** A KL term where it stands: in the loss, or off the rewards. */
export function klParts({
  kind,
  weight,
  in: where,
}: Config['algorithm']['kl']): Pick<AlgorithmOptions, 'kl' | 'klInReward'> {
  if (where === 'loss' || kind === 'none') return { kl: { kind, weight } };
  return { kl: { kind: 'none', weight: 0 }, klInReward: { kind, weight } };
}

/** The parts of the algorithm that a run uses, each with its settings. */
export function algorithmParts({
  advantage,
  loss,
  correction,
  selection,
}: Pick<ChosenPlugins, PartName>): AlgorithmParts {
  const { spec, plugin } = advantage.entry;
  return {
    advantage: {
      name: spec.name,
      of: (groups) => {
        enterPlugin(`advantage "${spec.name}"`);
        return (plugin as AdvantageFunction)(groups, advantage.settings);
      },
    },
    loss: lossPart(loss),
    correction: correctionPart(correction),
    selection: {
      name: selection.entry.spec.name,
      of: (group) => {
        enterPlugin(`selection "${selection.entry.spec.name}"`);
        return (selection.entry.plugin as SelectionFunction)(group, selection.settings);
      },
    },
  };
}

/** Nothing where nothing is corrected: then nothing has to be scored. */
function correctionPart({
  entry: { spec, plugin },
  settings,
}: ChosenPlugins['correction']): AlgorithmParts['correction'] {
  if (spec.name === 'none') return undefined;
  return {
    name: spec.name,
    of: (tokens) => {
      enterPlugin(`correction "${spec.name}"`);
      return (plugin as CorrectionFunction)(tokens, settings);
    },
  };
}

/** A loss as the learner is told of it. */
export function lossPart({ entry, settings }: ChosenPlugins['loss']): AlgorithmParts['loss'] {
  const { name, module } = entry.spec;
  return {
    type: name,
    settings,
    ...(module !== undefined && { module: compiledTwin(new URL(module)).href }),
  };
}
