import { KeyedRng } from '../core/keyed-rng.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import { trainedAdapter } from '../../model/adapters/adapter.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { dropoutFactors, type TrainBatch } from './train-batch.ts';
import { dropoutSpecs } from './train-program.ts';

interface DropoutKey {
  config: ModelConfig;
  seed: number;
  /** That were taken. */
  steps: number;
}

/** What is dropped of each sequence, a function of the sequence, the step and the seed alone; empty without dropout. */
export function dropoutInputs(
  { shape: { sequences, length } }: Pick<TrainBatch, 'shape'>,
  data: readonly TrainDatum[],
  { config, seed, steps }: DropoutKey,
): Record<string, Float32Array> {
  const rate = trainedAdapter(config)?.dropout ?? 0;
  const rng = new KeyedRng(seed, 'dropout', steps);
  return Object.fromEntries(
    dropoutSpecs(config, { sequences, length }).map(({ name, shape }) => [
      name,
      dropoutFactors(data, { rate, length, shape, rng: rng.child(name) }),
    ]),
  );
}
