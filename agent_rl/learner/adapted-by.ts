import { AgentRlError } from '../core/errors.ts';
import { trainedAdapter } from '../../model/adapters/adapter.ts';
import type { Adapter, ModelConfig } from '../../model/config/architecture.ts';

export interface AdapterOrigin {
  /** Where the model under it is, and the adapters between the two, for its own file. */
  baseModel: string;
  under?: readonly string[];
  /** Keys what dropout drops. */
  seed: number;
}

export interface Adapted extends AdapterOrigin {
  adapter: Adapter;
}

/** The adapter that is trained; undefined where the whole model is. @throws AgentRlError `MODEL_INVALID` without its origin */
export function adaptedBy(
  config: ModelConfig,
  origin: AdapterOrigin | undefined,
): Adapted | undefined {
  const adapter = trainedAdapter(config);
  if (adapter === undefined) return undefined;
  if (origin !== undefined) return { ...origin, adapter };
  throw new AgentRlError(
    'MODEL_INVALID',
    'The learner must train an adapter, but received neither the base model of the adapter nor a seed.',
  );
}
