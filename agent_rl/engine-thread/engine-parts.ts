import { generator } from '../core/plugins/model/generator.ts';
import { learner } from '../core/plugins/model/learner.ts';

/** The generator of the engine in this process. */
const engineGenerator = generator({
  name: 'engine',
  description: 'Generates in this process, on run.device, with the weights that are trained.',
  engine: true,
})(async (_settings: unknown, host) => (await host.engine()).generator);

/** The learner of the engine in this process. */
const engineLearner = learner({
  name: 'engine',
  description: 'Learns in this process, on run.device.',
  engine: true,
})(async (_settings: unknown, host) => (await host.engine()).learner);

/** What computes the same numbers the slow and obvious way, operation by operation. */
const eagerLearner = learner({
  name: 'eager',
  description:
    'Learns in this process with plain JavaScript, operation by operation: to check others by, since it takes many times as long.',
})(async (_settings: unknown, host) => (await host.engine('eager')).learner);

export const builtinGenerators = [engineGenerator];
export const builtinLearners = [engineLearner, eagerLearner];
