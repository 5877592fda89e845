import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { ConfigSchema } from '#agent_rl/config/config-schema.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { checks, type Finding, runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import type { Metrics } from '#agent_rl/telemetry/index.ts';
import { metricsUnder } from '#tests/support/metrics-under.ts';
import { evidenceOf, type Sketch } from './evidence.ts';

const troubles = (sketch: Sketch): Finding[] =>
  runChecks(evidenceOf(sketch)).filter(({ verdict }) => ['wrong', 'suspicious'].includes(verdict));

const constant = (value: number) => ({ count: 100, least: value, most: value });
const klOf = (weight: number, place = 'loss') => ({
  algorithm: { kl: { kind: 'k3', in: place, weight }, selection: { type: 'all' } },
});

/** How many of 400 episodes two agents solved, and whether the second learns. */
const agents = (pupil: number, rival: number, learns: boolean) => ({
  agents: new Map([
    ['pupil', { learns: true, scored: 400, solved: pupil }],
    ['rival', { learns, scored: 400, solved: rival }],
  ]),
});

/** Requires a finding, written as `check: verdict`. */
const expectFinding = (finding: string, sketch: Sketch, says: RegExp): void => {
  const [check, verdict] = finding.split(': ');
  const expected = { check, verdict, says: expect.stringMatching(says) };
  expect(troubles(sketch)).toContainEqual(expect.objectContaining(expected));
};

const stays = { 'rollout/successRate': 0.4 };
const falls = { 'rollout/successRate': 0.1 };
const tiny = { ...stays, 'train/learningRate': 1e-7, 'train/parameterNorm': 100 };
const waiting = { 'busy/collect': 0.9, 'seconds/tools': 5, 'seconds/generation': 1 };
const idle = { 'rollout/entropyEstimate': 0.09, 'group/zeroVariance': 9, 'group/allRight': 3 };

describe('The diagnosis of a run', () => {
  test('finds nothing in a healthy run, and says what was not measured', () => {
    const findings = runChecks(evidenceOf());
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toMatchObject([
      { check: 'held-out', verdict: 'unknown' },
    ]);
    expect(findings).toHaveLength(checks.length);
  });

  test.each<[string, Metrics, RegExp]>([
    ['failures: suspicious', { 'rollout/failed': 6 }, /72 of 1,200 .* 6\.0 %/],
    ['failures: wrong', { 'rollout/failed': 20 }, /20\.0 %/],
    // Half of train.parityBound.max, 1e-3.
    ['parity: suspicious', { 'parity/maxAbsLogProbGap': 6e-4 }, /0\.0006 nats/],
    ['learning-rate: wrong', { 'train/learningRate': 0 }, /is 0/],
    ['learning-rate: suspicious', { 'train/learningRate': 1e-9 }, /1e-9/],
    ['gradient: suspicious', { 'train/gradNorm': 11 }, /clipped to less than a tenth/],
    // 5e-5 / sqrt(1e6) = 5e-8, under ten times eps.
    ['gradient: suspicious', { 'train/gradNorm': 5e-5 }, /5e-8 per weight/],
    ['masked: suspicious', { 'ledger/masked': 4000 }, /28\.6 %/],
    ['left-out: wrong', { 'ledger/untrained': 1e6, 'ledger/trained': 0 }, /99\.7 % .* untrained/],
    ['unread-calls: wrong', { 'rollout/malformedCalls': 60 }, /720 calls in 1,200/],
    ['rejected-calls: suspicious', { 'rollout/rejectedCalls': 30 }, /360 calls/],
    ['no-calls: wrong', { 'rollout/toolCallRate': 0.05 }, /only 5\.0 %/],
    ['no-calls: suspicious', { 'rollout/toolCallRate': 0.4 }, /only 40\.0 %/],
    // 200 of 200 + 40 + 50.
    ['truncated: wrong', { 'outcome/truncated-tokens': 200 }, /69\.0 % .*: 2400 at the token/],
    ['no-variance: wrong', { 'group/zeroVariance': 10 }, /100\.0 % of 120 groups/],
    ['ratios: suspicious', { 'sent/ratioTail': 0.1 }, /doubled or halved: 10\.0 %/],
    ['ratios: suspicious', { 'sent/clipFraction': 0.3 }, /clipped: 30\.0 %/],
    // Twelve of 1e-7 are 1.2e-5 of 0.1.
    ['learning-rate: wrong', tiny, /too small: .* all 12 steps .* at most 0\.0012 % of its size/],
    ['slow-tools: suspicious', waiting, /90\.0 % of the time .* wait for tools/],
  ])('finds in all iterations %s with %j', (finding, metrics, says) => {
    expectFinding(finding, { metrics }, says);
  });

  test.each<[string, Metrics, RegExp]>([
    ['learning-rate: suspicious', { 'train/learningRate': 0 }, /in 3 of 12/],
    ['gradient: wrong', { 'train/loss': Number.NaN }, /NaN or infinite/],
    ['never-solved: suspicious', { 'rollout/successRate': 0 }, /solved earlier, but not/],
    ['entropy: suspicious', { ...stays, 'rollout/entropyEstimate': 0.01 }, /collapsed without/],
    ['entropy: suspicious', { ...stays, 'rollout/entropyEstimate': 2 }, /explodes/],
    ['no-calls: wrong', { ...falls, 'rollout/toolCallRate': 0.2 }, /its tools: .* 90\.0 % to 20/],
    ['unread-calls: suspicious', { 'rollout/malformedCalls': 40 }, /from 0\.1 .* to 0\.45 at/],
    ['paid-for-nothing: suspicious', { 'rollout/successWithoutCalls': 0.3 }, /2\.0 % .* 30\.0 %/],
    // 2 of 10 idle at first, 6 of 10 at last.
    [
      'entropy: suspicious',
      idle,
      /collapsed without success: .* 20\.0 % at .*, 60\.0 % at the end/,
    ],
    ['lengths: suspicious', { ...stays, 'rollout/lengthMean': 250 }, /longer .* 100 .* 250/],
    ['lengths: suspicious', { ...stays, 'rollout/lengthMean': 30 }, /shorter/],
    ['repetition: suspicious', { 'rollout/repetition': 0.5 }, /50\.0 %/],
  ])('finds in the last quarter %s with %j', (finding, late, says) => {
    expectFinding(finding, { late }, says);
  });

  test.each<[string, NonNullable<Sketch['episodes']>, RegExp]>([
    ['unread-calls: wrong', { unread: 70 }, /70\.0 % .* looks like a call/],
    ['constant-reward: wrong', { reward: constant(0.5) }, /all 100 episodes have the reward 0\.5/],
    ['constant-part: suspicious', { scores: new Map([['format', constant(0)]]) }, /never earned/],
    ['paid-for-nothing: wrong', { paidForNothing: 30 }, /30 of 100/],
    ['paid-for-nothing: wrong', { unit: 'part', paidForNothing: 50 }, /^50 of 100 parts are/],
    ['paid-for-nothing: suspicious', { solvedWithoutCall: 20 }, /50\.0 % of 40/],
    ['tool-results: wrong', { repeatedToolSolved: 1 }, /80 of 100 .* 1 of these answers are right/],
    // Groups of four.
    ['few-tasks: wrong', { prompts: 1 }, /1 different prompt in 25 groups/],
    ['few-tasks: suspicious', { scored: 400, prompts: 5 }, /5 different prompts/],
    ['one-sided: wrong', agents(3, 390, false), /pupil rarely wins \(3 of 400 episodes\)/],
  ])('finds in its episodes %s with %j', (finding, episodes, says) => {
    expectFinding(finding, { episodes }, says);
  });

  const unsolved = { 'rollout/successRate': 0 };
  const solved = { 'rollout/successRate': 0.6 };
  const cut = { iterations: 4, metrics: { 'train/optimizerSteps': 3 } };
  const unpaid = { metrics: unsolved, episodes: { solved: 0, reward: constant(0) } };
  const pulled = { config: klOf(1, 'reward'), metrics: { 'rollout/klPenaltyMean': 0.25 } };
  const level = { ...stays, 'rollout/entropyEstimate': 0.5 };
  const stuck = { iterations: 20, metrics: level, late: stays };
  const large = {
    metrics: { 'train/learningRate': 0.01, 'train/parameterNorm': 100 },
    late: falls,
  };
  const rewarded = { ...falls, 'rollout/rewardMean': 0.3 };
  const hacked = { metrics: { 'rollout/rewardMean': 0.2 }, late: rewarded };
  const heldOut = (after: number, high: number) => ({
    heldOut: { before: 0.3, after, interval: [-0.3, high] as const },
  });
  test.each<[string, RegExp, Sketch]>([
    ['control: wrong', /is a control/, { config: { train: { control: 'shuffled-rewards' } } }],
    ['learning-rate: suspicious', /3 of 5 steps/, cut],
    ['never-solved: wrong', /^0 of 1200 episodes/, unpaid],
    ['never-solved: suspicious', /^0 of 1200/, { metrics: unsolved, episodes: { solved: 0 } }],
    // 2 x sqrt(2 x 0.5) = 2 against a spread of 1.
    [
      'kl: wrong',
      /KL term is 2, while the standard deviation of advantages is 1/,
      { config: klOf(2), metrics: { 'sent/kl': 0.5 } },
    ],
    ['kl: suspicious', /the KL penalty is 0\.25, while .* rewards is 0\.5/, pulled],
    ['entropy: suspicious', /is not falling: .* from 40\.0 % to 40\.0 %/, stuck],
    // Weights of 100 / sqrt(1e6) = 0.1: a step of 0.01 is a tenth of them.
    [
      'learning-rate: wrong',
      /large: .* by 10\.0 % of its size, and success went from 40\.0/,
      large,
    ],
    ['success: wrong', /fell: from 40\.0 % .* to 10\.0 % .*, but the reward did not fall/, hacked],
    ['held-out: wrong', /fell from 30\.0 % before training to 10\.0 % after/, heldOut(0.1, -0.1)],
    ['held-out: suspicious', /does not generalise/, { ...heldOut(0.32, 0.06), late: solved }],
  ])('finds %s, which says %s', (finding, says, sketch) => {
    expectFinding(finding, sketch, says);
  });

  test('names the cause before its effects', () => {
    const calls = { 'rollout/malformedCalls': 300, 'rollout/toolCallRate': 0 };
    const found = troubles({
      metrics: { ...calls, 'rollout/successRate': 0, 'group/zeroVariance': 10 },
      episodes: { solved: 0, reward: constant(0) },
    });
    expect(found[0]?.episode).toBe('3/b/0');
    const order = ['unread-calls', 'no-calls', 'never-solved', 'no-variance'];
    expect(found.slice(0, 4).map(({ check }) => check)).toEqual(order);
  });

  test('names a hint that no episode has, where nothing was trained', () => {
    const settings = { algorithm: { distill: { hint: '{nonexistent}' } } };
    const metrics = { 'ledger/trained': 0, 'ledger/zero-advantage': 1000 };
    expectFinding(
      'masked: wrong',
      { metrics, config: settings },
      /algorithm\.distill\.hint .*asks for/,
    );
    const taught = { ...metrics, 'ledger/distilled': 10 };
    expect(troubles({ metrics: taught, config: settings }).map(({ check }) => check)).not.toContain(
      'masked',
    );
  });

  test('names the setting that masks tokens, with its value and an episode', () => {
    const metrics = { 'ledger/masked': 20_000, 'outcome/truncated-turns': 60 };
    const masked = new Map([['truncated-turns', 240_000]]);
    const [known] = troubles({ metrics, episodes: { masked } });
    expect(known).toMatchObject({
      check: 'masked',
      verdict: 'wrong',
      episode: '3/a/0',
      evidence: [
        '23.3 % of 360,000 sampled tokens moved the weights (ledger/trained)',
        '240,000 tokens of episodes that ended as truncated-turns: rollout.outcomes.truncated-turns (now "mask")',
      ],
    });
    expect(known?.tries).toEqual([
      'set rollout.outcomes.truncated-turns to train or penalise, or raise rollout.maxTurns (now 4)',
    ]);
    const [old] = troubles({ metrics, episodes: { learnedRecorded: false } });
    // No other outcome is masked, however many end so.
    expect(old?.evidence?.slice(1)).toEqual([
      '720 episodes that ended as truncated-turns: rollout.outcomes.truncated-turns (now "mask")',
    ]);
  });

  const rollouts = (values: Readonly<Record<string, number>>) => metricsUnder('rollout', values);
  const right = metricsUnder('group', { zeroVariance: 9, allRight: 9, allWrong: 0 });
  const long = { iterations: 200, learningRate: 1e-6, warmupSteps: 5 };
  const often = { epochs: 2, updatesPerBatch: 4, kl: { kind: 'none' } };
  const healthy: Readonly<Record<string, Sketch>> = {
    'rarer calls where more is solved': { late: rollouts({ toolCallRate: 0.5, successRate: 0.9 }) },
    'equal rewards where tasks are solved': {
      late: { ...right, ...rollouts({ successRate: 0.95, entropyEstimate: 0.02 }) },
    },
    'missing calls of a run without tools': {
      tools: false,
      metrics: rollouts({ toolCallRate: 0, malformedCalls: 500 }),
    },
    // Of 350,000 weights of an adapter, 15 / sqrt(350,000) = 0.025 large: 8 % a step.
    'an adapter that learns with a large rate': {
      config: { model: { lora: { rank: 16 } } },
      metrics: metricsUnder('train', { learningRate: 2e-3, parameterNorm: 15 }),
      trainedParameters: 350_000,
    },
    // 0.03 large, a rate of 1e-6, 200 iterations of 8 steps: 5 % of their size together.
    'a large model with a small rate and many steps': {
      config: { train: long, algorithm: often },
      metrics: { ...stays, 'train/learningRate': 1e-6, 'train/parameterNorm': 735 },
      late: rollouts({ successRate: 0.43 }),
      trainedParameters: 6e8,
    },
    'agents that win together': { episodes: agents(390, 390, true) },
    'a tool that turns out not to be needed': {
      metrics: rollouts({ successRate: 0.7 }),
      late: rollouts({ successRate: 0.72, toolCallRate: 0.2 }),
    },
    'calls that become rarer while more is solved, if still little': {
      metrics: rollouts({ successRate: 0.1 }),
      late: rollouts({ successRate: 0.3, toolCallRate: 0.2 }),
    },
    'several environments, of which one needs no tool': {
      config: { environment: [{}, {}] },
      episodes: { solvedWithoutCall: 20 },
    },
  };
  test.each(Object.entries(healthy))('finds nothing in %s', (_, sketch) => {
    expect(troubles(sketch)).toEqual([]);
  });

  test('says of a run without metrics that nothing was measured, and does not call it right', () => {
    const findings = runChecks(evidenceOf({ iterations: 0, episodes: 'none' }));
    const judged = findings.filter(({ verdict }) => verdict !== 'unknown');
    expect(judged.map(({ check }) => check)).toEqual(['control', 'kl']);
  });
});

test.each<[string, Sketch]>([
  ['steps are too large', { metrics: { 'train/learningRate': 0.01, 'train/parameterNorm': 100 } }],
  ['entropy grows', { late: { 'rollout/entropyEstimate': 1 } }],
])('entropy asks for no larger learning rate where %s', (_, { metrics, late }) => {
  const stuck = { 'rollout/entropyEstimate': 0.5, 'rollout/successRate': 0.4 };
  const tries = (sketch: Sketch) =>
    troubles({ iterations: 20, ...sketch }).find(({ check }) => check === 'entropy')?.tries;
  expect(tries({ metrics: stuck })?.[0]).toContain('raise train.learningRate');
  const sketch = { metrics: { ...stuck, ...metrics }, late: { ...stuck, ...late } };
  expect(tries(sketch)).toEqual(['see the other findings first']);
});

test('checks have unique names and name existing settings', () => {
  const names = checks.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const folder = join(packageRoot(), 'agent_rl', 'runs', 'signs');
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const paths = [...text.matchAll(/\.(?:now|at|number|list)\(\s*'([a-zA-Z.-]+)'/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !isSetting(path))).toEqual([]);
});

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
}

/** Settings of a plugin, such as environment.systemPrompt, are not in the schema of run files: its `type` stands for them. */
function isSetting(path: string): boolean {
  let schema: Schema | undefined = ConfigSchema as Schema;
  for (const key of path.split('.')) {
    const below: Readonly<Record<string, Schema>> = schema?.properties ?? {};
    if (!Object.hasOwn(below, key)) return Object.hasOwn(below, 'type') || key === 'type';
    schema = below[key];
  }
  return true;
}
