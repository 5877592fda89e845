import { RunSettings } from '#agent_rl/runs/query/run-settings.ts';
import type { RunEvidence } from '#agent_rl/runs/signs/run-evidence.ts';
import { Series } from '#agent_rl/runs/query/series.ts';
import type { EpisodeTally } from '#agent_rl/runs/signs/episode-counts.ts';
import type { Metrics } from '#agent_rl/telemetry/index.ts';

/** An iteration of a run in which nothing is wrong. */
const healthyMetrics = {
  'rollout/episodes': 100,
  'rollout/scored': 100,
  'rollout/failed': 0,
  'rollout/successRate': 0.4,
  'rollout/successWithoutCalls': 0.02,
  'rollout/rewardStd': 0.5,
  'rollout/toolCallRate': 0.9,
  'rollout/malformedCalls': 5,
  'rollout/rejectedCalls': 5,
  'rollout/entropyEstimate': 0.5,
  'rollout/repetition': 0.02,
  'rollout/lengthMean': 100,
  'rollout/lengthMax': 200,
  'outcome/completed': 40,
  'outcome/wrong-answer': 50,
  'outcome/truncated-tokens': 10,
  'outcome/truncated-turns': 0,
  'group/count': 10,
  'group/zeroVariance': 3,
  'group/allRight': 1,
  'group/allWrong': 2,
  'group/leftOut': 0,
  'ledger/trained': 7000,
  'ledger/zero-advantage': 3000,
  'ledger/masked': 0,
  'train/learningRate': 1e-4,
  'train/optimizerSteps': 50,
  'train/gradNorm': 0.5,
  'train/loss': 0.1,
  'parity/maxAbsLogProbGap': 1e-6,
  'sent/advantageStd': 1,
  'sent/clipFraction': 0.01,
  'sent/ratioTail': 0,
  'sent/guarded': 0,
  'busy/collect': 0.4,
} as const satisfies Metrics;

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
  scores: new Map([
    ['environment', spread],
    ['format', spread],
  ]),
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
    metrics: Object.assign(
      {},
      healthyMetrics,
      index >= 0.75 * iterations ? improved : {},
      metrics,
      index >= 0.75 * iterations ? late : {},
    ) as Metrics,
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
