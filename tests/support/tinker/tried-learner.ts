import type { LearnerHost } from '#agent_rl/core/plugins/model/learner.ts';
import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { Learner, OptimStepOptions } from '#agent_rl/core/services/learner.ts';
import { linearModules } from '#agent_rl/core/services/linear-module.ts';
import { tinkerLearner } from '#agent_rl/learner/tinker/open-tinker-learner.ts';
import { policyLossSpec } from '../policy-loss-spec.ts';
import { starter } from '../vllm/opened-vllm.ts';

export { starter };

const scale = { rank: 1, alpha: 32, dropout: 0, rankStabilised: false };
export const lora = { ...scale, targets: linearModules };

export const clippedLoss = policyLossSpec();

const adam = { beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0 };
export const smallStep: OptimStepOptions = { learningRate: 1e-3, ...adam, maxGradNorm: Infinity };

export const learnerHost = (over: Partial<LearnerHost> = {}): LearnerHost => ({
  modelFolder: starter,
  adapter: lora,
  changesWeights: false,
  maxGradNorm: Infinity,
  seed: 1,
  loss: clippedLoss,
  longestTokens: 64,
  microBatchTokens: 512,
  reference: false,
  environment: {},
  warn: () => undefined,
  signal: new AbortController().signal,
  engine: () => Promise.reject(new Error('No engine is asked for.')),
  ...over,
});

const usual = { deadlineS: 3600, patienceS: 60, reduction: 'detect', fewShapes: true } as const;

export const learnerSettings = (url: string) => ({ ...usual, url });

export const openTinker = (
  url: string,
  { host = {}, settings = {} }: { host?: Partial<LearnerHost>; settings?: object } = {},
): Promise<Learner> => tinkerLearner({ ...learnerSettings(url), ...settings }, learnerHost(host));

/** A sequence without chance: some of its tokens are trained, each with a weight of its own. */
export const datum = (length: number, step: number, advantage: number): TrainDatum => ({
  tokens: Int32Array.from({ length }, (_, place) => (place * step + length) % 1024),
  weights: new Float32Array(length).map((_, place) => (place % 3 === 0 ? 0 : (1 + place) / 256)),
  advantages: new Float32Array(length).fill(advantage),
  oldLogProbs: new Float32Array(length).fill(-9),
});

export const twoSequences = [datum(9, 5, 1), datum(17, 3, -0.5)];

/** Two steps, and the log-probabilities after them. */
export async function takeTwoSteps(learner: Learner): Promise<readonly Float32Array[]> {
  for (let step = 0; step < 2; step++) {
    await learner.forwardBackward(batchOf(twoSequences), clippedLoss);
    await learner.optimStep(smallStep);
  }
  return logProbsOf(learner);
}

const sequences = twoSequences.map(({ tokens }) => tokens);

export const logProbsOf = (learner: Learner): Promise<readonly Float32Array[]> =>
  learner.forward(sequences, { temperature: 1, which: 'policy' });

export const largestGap = (
  one: readonly ArrayLike<number>[],
  other: readonly ArrayLike<number>[],
): number =>
  one
    .flatMap((row, i) => Array.from(row, (value, j) => Math.abs(value - other[i]![j]!)))
    .reduce((most, gap) => Math.max(most, gap), 0);
