import { generator } from '../core/plugins/model/generator.ts';
import { learner } from '../core/plugins/model/learner.ts';

/** The generator of the engine in this process. */
const engineGenerator = generator({
  name: 'engine',
  description: 'Generates in this process on run.device, with the weights being trained.',
  engine: true,
})(async (_settings: unknown, host) => (await host.engine()).generator);

/** The learner of the engine in this process. */
const engineLearner = learner({
  name: 'engine',
  description: 'Trains in this process on run.device.',
  engine: true,
})(async (_settings: unknown, host) => (await host.engine()).learner);

/** Computes the same numbers the slow and obvious way, one operation at a time. */
const eagerLearner = learner({
  name: 'eager',
  description:
    'Trains in this process in plain JavaScript, one operation at a time. Many times slower than the other learners; use it to check their results.',
})(async (_settings: unknown, host) => (await host.engine('eager')).learner);

export const builtinGenerators = [engineGenerator];
export const builtinLearners = [engineLearner, eagerLearner];
