import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { RunSources } from '../../runs/run-inputs.ts';
import { splitFiles } from '../../../dataset/tasks/task-files.ts';

/** What a run starts from. */
export function sourcesOf({ config, model }: Pick<ResolvedRun, 'config' | 'model'>): RunSources {
  const { dataset, datasets, run } = config;
  return {
    seed: run.seed,
    trainFiles: splitFiles(datasets, dataset.trainSplit),
    evalFiles: splitFiles(datasets, dataset.evalSplit),
    model: model.layers,
  };
}
