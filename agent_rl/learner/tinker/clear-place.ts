import type { TinkerSession } from '../../tinker/tinker-session.ts';
import { repeated } from './repeated.ts';
import { type CreateOptions, noStep, TrainedModel } from './trained-model.ts';

/**
 * Makes a model in the place that the next one gets, and unloads it: whoever had the place may have left gradients there,
 * which a step clears.
 *
 * @param use what else the model is made for, before it is unloaded
 */
export const clearPlace = <Result>(
  session: TinkerSession,
  options: Omit<CreateOptions, 'from'>,
  use: (model: TrainedModel) => Promise<Result>,
): Promise<Result> =>
  repeated(session, 'try an adapter', async () => {
    const model = await TrainedModel.create(session, options);
    await model.optimStep(noStep);
    try {
      return await use(model);
    } finally {
      await model.unload();
    }
  });
