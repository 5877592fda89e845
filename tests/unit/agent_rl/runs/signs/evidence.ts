import { RunSettings } from '#agent_rl/runs/query/run-settings.ts';
import type { RunEvidence } from '#agent_rl/runs/signs/run-evidence.ts';
import { Series } from '#agent_rl/runs/query/series.ts';
import type { EpisodeTally } from '#agent_rl/runs/signs/episode-counts.ts';
import type { Metrics } from '#agent_rl/telemetry/index.ts';
import { metricsUnder } from '#tests/support/metrics-under.ts';

/** An iteration of a run in which nothing is wrong. */
const healthyMetrics: Metrics = {
  ...metricsUnder('rollout', { episodes: 100, scored: 100, failed: 0, rewardStd: 0.5 }),
  ...metricsUnder('rollout', { successRate: 0.4, successWithoutCalls: 0.02, repetition: 0.02 }),
  ...metricsUnder('rollout', { toolCallRate: 0.9, malformedCalls: 5, rejectedCalls: 5 }),
  ...metricsUnder('rollout', { entropyEstimate: 0.5, lengthMean: 100, lengthMax: 200 }),
  ...metricsUnder('outcome', { completed: 40, 'wrong-answer': 50 }),
  ...metricsUnder('outcome', { 'truncated-tokens': 10, 'truncated-turns': 0 }),
  ...metricsUnder('group', { count: 10, zeroVariance: 3, allRight: 1, allWrong: 2, leftOut: 0 }),
  ...metricsUnder('ledger', { trained: 7000, 'zero-advantage': 3000, masked: 0 }),
  ...metricsUnder('train', { learningRate: 1e-4, optimizerSteps: 50, gradNorm: 0.5, loss: 0.1 }),
  ...metricsUnder('sent', { advantageStd: 1, clipFraction: 0.01, ratioTail: 0, guarded: 0 }),
  'parity/maxAbsLogProbGap': 1e-6,
  'busy/collect': 0.4,
};

/** In the last quarter. */
const improved = { 'rollout/successRate': 0.5, 'rollout/entropyEstimate': 0.4 } as const;

const spread = { count: 100, least: 0, most: 1 };

const healthyEpisodes: EpisodeTally = {
  unit: 'episode',
  scored: 100,
  solved: 40,
  different: 90,
  tasks: 10,
  prompts: 100,
  reward: spread,
  scores: new Map(Object.entries({ environment: spread, format: spread })),
  unread: 0,
  solvedWithoutCall: 1,
  paidForNothing: 0,
  repeatedTool: 80,
  repeatedToolSolved: 40,
  masked: new Map(),
  learnedRecorded: true,
  agents: new Map(),
  examples: new Map([
    ['masked', '3/a/0'],
    ['malformed', '3/b/0'],
  ]),
};

const healthyConfig = {
  train: {
    control: 'none',
    learningRate: 1e-4,
    warmupSteps: 5,
    maxGradNorm: 1,
    eps: 1e-8,
    parityBound: { max: 1e-3 },
  },
  rollout: { groupSize: 4, maxTurns: 4, outcomes: { 'truncated-turns': 'mask' } },
  algorithm: { kl: { kind: 'none', in: 'loss', weight: 0 }, selection: { type: 'all' } },
  policy: { toolCallFormat: 'auto' },
};

export interface Sketch {
  /** Of every iteration, beside what is healthy. */
  metrics?: Metrics;
  /** Of the last quarter too. */
  late?: Metrics;
  iterations?: number;
  episodes?: Partial<EpisodeTally> | 'none';
  config?: Readonly<Record<string, unknown>>;
  heldOut?: RunEvidence['heldOut'];
  trainedParameters?: number;
  tools?: boolean;
}

/** Evidence of a run of 12 iterations that learns, and is healthy but for what is given. */
export function evidenceOf(sketch: Sketch = {}): RunEvidence {
  const { metrics = {}, late = {}, iterations = 12, episodes = {}, config = {} } = sketch;
  const { heldOut, trainedParameters = 1e6, tools = true } = sketch;
  const all = Array.from({ length: iterations }, (_, index) => ({
    iteration: index + 1,
    metrics:
      index < 0.75 * iterations
        ? { ...healthyMetrics, ...metrics }
        : { ...healthyMetrics, ...improved, ...metrics, ...late },
  }));
  return {
    settings: new RunSettings({ ...healthyConfig, ...config }),
    series: new Series(all),
    ...(episodes !== 'none' && { episodes: { ...healthyEpisodes, ...episodes } }),
    hasSummary: true,
    ...(heldOut && { heldOut }),
    trainedParameters,
    tools,
    prompt: 'in the prompt',
  };
}
