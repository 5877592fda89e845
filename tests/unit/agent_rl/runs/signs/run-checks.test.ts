import { describe, expect, test } from '@jest/globals';

import { checks, type Finding, runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import { evidenceOf, type Sketch } from './evidence.ts';

const troubles = (sketch: Sketch): Finding[] =>
  runChecks(evidenceOf(sketch)).filter(({ verdict }) => ['wrong', 'suspicious'].includes(verdict));

const same = { count: 100, least: 0.5, most: 0.5 };
const klOf = (weight: number, place = 'loss') => ({
  algorithm: { kl: { kind: 'k3', in: place, weight }, selection: { type: 'all' } },
});

describe('The diagnosis of a run', () => {
  test('finds nothing in a healthy run, and says what was not measured', () => {
    const findings = runChecks(evidenceOf());
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toMatchObject([
      { check: 'held-out', verdict: 'unknown' },
    ]);
    expect(findings).toHaveLength(checks.length);
  });

  test.each<[string, string, Sketch, RegExp]>([
    ['control', 'wrong', { config: { train: { control: 'shuffled-rewards' } } }, /is a control/],
    ['failures', 'suspicious', { metrics: { 'rollout/failed': 6 } }, /72 of 1,200 .* 6\.0 %/],
    ['failures', 'wrong', { metrics: { 'rollout/failed': 20 } }, /20\.0 %/],
    // Half of train.parityBound.max, 1e-3.
    ['parity', 'suspicious', { metrics: { 'parity/maxAbsLogProbGap': 6e-4 } }, /0\.0006 nats/],
    ['learning-rate', 'wrong', { metrics: { 'train/learningRate': 0 } }, /is 0/],
    ['learning-rate', 'suspicious', { late: { 'train/learningRate': 0 } }, /in 3 of 12/],
    ['learning-rate', 'suspicious', { metrics: { 'train/learningRate': 1e-9 } }, /1e-9/],
    [
      'learning-rate',
      'suspicious',
      { iterations: 4, metrics: { 'train/optimizerSteps': 3 } },
      /3 of 5 steps/,
    ],
    ['gradient', 'wrong', { late: { 'train/loss': Number.NaN } }, /NaN or infinite/],
    ['gradient', 'suspicious', { metrics: { 'train/gradNorm': 11 } }, /clipped to a tenth/],
    // 5e-5 / sqrt(1e6) = 5e-8, under ten times eps.
    ['gradient', 'suspicious', { metrics: { 'train/gradNorm': 5e-5 } }, /5e-8 per weight/],
    ['masked', 'suspicious', { metrics: { 'ledger/masked': 4000 } }, /28\.6 %/],
    [
      'left-out',
      'wrong',
      { metrics: { 'ledger/untrained': 1e6, 'ledger/trained': 0 } },
      /99\.7 % .* untrained/,
    ],
    ['unread-calls', 'wrong', { metrics: { 'rollout/malformedCalls': 60 } }, /720 calls in 1,200/],
    ['unread-calls', 'wrong', { episodes: { unread: 70 } }, /70\.0 % .* looks like a call/],
    ['rejected-calls', 'suspicious', { metrics: { 'rollout/rejectedCalls': 30 } }, /360 calls/],
    ['no-calls', 'wrong', { metrics: { 'rollout/toolCallRate': 0.05 } }, /only 5\.0 %/],
    ['no-calls', 'suspicious', { metrics: { 'rollout/toolCallRate': 0.4 } }, /only 40\.0 %/],
    ['constant-reward', 'wrong', { episodes: { reward: same } }, /0\.5, in all 100 episodes/],
    [
      'truncated',
      'wrong',
      { metrics: { 'outcome/truncated-tokens': 200 } },
      // 200 of 200 + 40 + 50.
      /69\.0 % of episodes are cut off: 2400 at the token limit/,
    ],
    [
      'never-solved',
      'wrong',
      {
        metrics: { 'rollout/successRate': 0 },
        episodes: { solved: 0, reward: { count: 100, least: 0, most: 0 } },
      },
      /none of 1200 episodes/,
    ],
    [
      'never-solved',
      'suspicious',
      { metrics: { 'rollout/successRate': 0 }, episodes: { solved: 0 } },
      /none of 1200 episodes/,
    ],
    [
      'never-solved',
      'suspicious',
      { late: { 'rollout/successRate': 0 } },
      /solved earlier, but none in the last quarter/,
    ],
    [
      'constant-part',
      'suspicious',
      { episodes: { scores: new Map([['format', { count: 100, least: 0, most: 0 }]]) } },
      /format is never earned/,
    ],
    ['paid-for-nothing', 'wrong', { episodes: { paidForNothing: 30 } }, /30 of 100/],
    ['paid-for-nothing', 'suspicious', { episodes: { solvedWithoutCall: 20 } }, /50\.0 % of 40/],
    ['no-variance', 'wrong', { metrics: { 'group/zeroVariance': 10 } }, /100\.0 % of 120 groups/],
    [
      'kl',
      'wrong',
      // 2 x sqrt(2 x 0.5) = 2 against a spread of 1.
      { config: klOf(2), metrics: { 'sent/kl': 0.5 } },
      /the pull of KL is 2, the pull of advantages 1/,
    ],
    [
      'kl',
      'suspicious',
      { config: klOf(1, 'reward'), metrics: { 'rollout/klPenaltyMean': 0.25 } },
      /the KL penalty is 0\.25, the reward spread 0\.5/,
    ],
    ['ratios', 'suspicious', { metrics: { 'sent/ratioTail': 0.1 } }, /doubled or halved: 10\.0 %/],
    ['ratios', 'suspicious', { metrics: { 'sent/clipFraction': 0.3 } }, /clipped: 30\.0 %/],
    [
      'entropy',
      'suspicious',
      { late: { 'rollout/entropyEstimate': 0.01, 'rollout/successRate': 0.4 } },
      /collapsed without/,
    ],
    [
      'entropy',
      'suspicious',
      { late: { 'rollout/entropyEstimate': 2, 'rollout/successRate': 0.4 } },
      /explodes/,
    ],
    [
      'entropy',
      'suspicious',
      { iterations: 20, metrics: { 'rollout/entropyEstimate': 0.5, 'rollout/successRate': 0.4 } },
      /is not falling: .* from 40\.0 % to 40\.0 %/,
    ],
    [
      'no-calls',
      'wrong',
      { late: { 'rollout/toolCallRate': 0.2, 'rollout/successRate': 0.1 } },
      /avoid its tools: .* from 90\.0 % to 20\.0 % .* from 40\.0 % to 10\.0 %/,
    ],
    [
      'unread-calls',
      'suspicious',
      { metrics: { 'rollout/malformedCalls': 5 }, late: { 'rollout/malformedCalls': 40 } },
      /malformed or rejected .* from 0\.1 at the start to 0\.45 at the end/,
    ],
    [
      'tool-results',
      'wrong',
      { episodes: { repeatedToolSolved: 1 } },
      /80 of 100 episodes end by repeating the last tool result, and 1 of these answers are right: the policy trusts the tool/,
    ],
    // Groups of four.
    ['few-tasks', 'wrong', { episodes: { prompts: 1 } }, /1 different prompt in 25 groups/],
    ['few-tasks', 'suspicious', { episodes: { scored: 400, prompts: 5 } }, /5 different prompts/],
    [
      'one-sided',
      'wrong',
      {
        episodes: {
          agents: new Map([
            ['pupil', { learns: true, scored: 400, solved: 3 }],
            ['rival', { learns: false, scored: 400, solved: 390 }],
          ]),
        },
      },
      /pupil rarely wins \(3 of 400 episodes\)/,
    ],
    [
      'learning-rate',
      'wrong',
      // Weights of 100 / sqrt(1e6) = 0.1: a step of 0.01 is a tenth of them.
      {
        metrics: { 'train/learningRate': 0.01, 'train/parameterNorm': 100 },
        late: { 'rollout/successRate': 0.1 },
      },
      /too large: .* moves a weight by 10\.0 % of its size, and success went from 40\.0 % to 10\.0 %/,
    ],
    [
      'learning-rate',
      'wrong',
      // Twelve of 1e-7 are 1.2e-5 of 0.1.
      {
        metrics: {
          'train/learningRate': 1e-7,
          'train/parameterNorm': 100,
          'rollout/successRate': 0.4,
        },
      },
      /too small: .* all 12 steps of the run together move a weight by at most 0\.0012 % of its size/,
    ],
    [
      'success',
      'wrong',
      {
        late: { 'rollout/successRate': 0.1, 'rollout/rewardMean': 0.3 },
        metrics: { 'rollout/rewardMean': 0.2 },
      },
      /fell: from 40\.0 % .* to 10\.0 % .*, but the reward did not fall: it rewards something else/,
    ],
    [
      'paid-for-nothing',
      'suspicious',
      { late: { 'rollout/successWithoutCalls': 0.3 } },
      /solved without a call: 2\.0 % of all episodes at the start, 30\.0 % at the end/,
    ],
    [
      'entropy',
      'suspicious',
      {
        late: {
          'rollout/entropyEstimate': 0.09,
          'group/zeroVariance': 9,
          'group/allRight': 3,
        },
      },
      // 2 of 10 idle at first, 6 of 10 at last.
      /collapsed without success: .* 20\.0 % at the start, 60\.0 % at the end/,
    ],
    [
      'lengths',
      'suspicious',
      { late: { 'rollout/lengthMean': 250, 'rollout/successRate': 0.4 } },
      /longer .* 100 .* 250/,
    ],
    [
      'lengths',
      'suspicious',
      { late: { 'rollout/lengthMean': 30, 'rollout/successRate': 0.4 } },
      /shorter/,
    ],
    [
      'slow-tools',
      'suspicious',
      { metrics: { 'busy/collect': 0.9, 'seconds/tools': 5, 'seconds/generation': 1 } },
      /90\.0 % of the time .* wait for tools/,
    ],
    [
      'held-out',
      'wrong',
      { heldOut: { before: 0.3, after: 0.1, interval: [-0.3, -0.1] } },
      /held-out success fell from 30\.0 % before training to 10\.0 % after/,
    ],
    ['repetition', 'suspicious', { late: { 'rollout/repetition': 0.5 } }, /50\.0 %/],
    [
      'held-out',
      'suspicious',
      {
        late: { 'rollout/successRate': 0.6 },
        heldOut: { before: 0.3, after: 0.32, interval: [-0.02, 0.06] },
      },
      /does not generalise/,
    ],
  ])('calls %s %s', (check, verdict, sketch, says) => {
    expect(troubles(sketch)).toContainEqual(
      expect.objectContaining({ check, verdict, says: expect.stringMatching(says) }),
    );
  });

  test('names the cause before its effects', () => {
    const [first, ...rest] = troubles({
      metrics: {
        'rollout/malformedCalls': 300,
        'rollout/toolCallRate': 0,
        'rollout/successRate': 0,
        'group/zeroVariance': 10,
      },
      episodes: { solved: 0, reward: { count: 100, least: 0, most: 0 } },
    });
    expect(first).toMatchObject({ check: 'unread-calls', episode: '3/b/0' });
    expect(rest.map(({ check }) => check).slice(0, 3)).toEqual([
      'no-calls',
      'never-solved',
      'no-variance',
    ]);
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

  test.each<[string, Sketch]>([
    [
      // Of 350,000 weights of an adapter, 15 / sqrt(350,000) = 0.025 large: 8 % a step.
      'an adapter that learns with a large rate',
      {
        config: { model: { lora: { rank: 16 } } },
        metrics: { 'train/learningRate': 2e-3, 'train/parameterNorm': 15 },
        trainedParameters: 350_000,
      },
    ],
    [
      // 0.03 large, a rate of 1e-6, 200 iterations of 8 steps: 5 % of their size together.
      'a large model with a small rate and many steps',
      {
        config: {
          train: { iterations: 200, learningRate: 1e-6, warmupSteps: 5 },
          algorithm: { epochs: 2, updatesPerBatch: 4, kl: { kind: 'none' } },
        },
        metrics: {
          'train/learningRate': 1e-6,
          'train/parameterNorm': 735,
          'rollout/successRate': 0.4,
        },
        late: { 'rollout/successRate': 0.43 },
        trainedParameters: 6e8,
      },
    ],
    [
      'agents that win together',
      {
        episodes: {
          agents: new Map([
            ['speaker', { learns: true, scored: 400, solved: 390 }],
            ['guesser', { learns: true, scored: 400, solved: 390 }],
          ]),
        },
      },
    ],
    [
      'a tool that turns out not to be needed',
      {
        metrics: { 'rollout/successRate': 0.7 },
        late: { 'rollout/successRate': 0.72, 'rollout/toolCallRate': 0.2 },
      },
    ],
    [
      'calls that become rarer while more is solved, if still little',
      {
        metrics: { 'rollout/successRate': 0.1 },
        late: { 'rollout/successRate': 0.3, 'rollout/toolCallRate': 0.2 },
      },
    ],
    [
      'several environments, of which one needs no tool',
      { config: { environment: [{}, {}] }, episodes: { solvedWithoutCall: 20 } },
    ],
  ])('finds nothing in %s', (_, sketch) => {
    expect(troubles(sketch)).toEqual([]);
  });

  test('accepts rarer calls where more tasks are solved', () => {
    const late = { 'rollout/toolCallRate': 0.5, 'rollout/successRate': 0.9 };
    expect(troubles({ late })).toEqual([]);
  });

  test('accepts equal rewards where tasks are solved', () => {
    const solved = {
      'rollout/successRate': 0.95,
      'group/zeroVariance': 9,
      'group/allRight': 9,
      'group/allWrong': 0,
      'rollout/entropyEstimate': 0.02,
    };
    expect(troubles({ late: solved })).toEqual([]);
  });

  test('skips tools in a run without any, and episodes that are not recorded', () => {
    const metrics = { 'rollout/toolCallRate': 0, 'rollout/malformedCalls': 500 };
    expect(troubles({ tools: false, metrics })).toEqual([]);
    const unrecorded = runChecks(evidenceOf({ episodes: 'none' }));
    expect(
      unrecorded.filter(({ verdict }) => verdict === 'unknown').map(({ check }) => check),
    ).toEqual(
      'few-tasks constant-reward paid-for-nothing tool-results one-sided constant-part held-out'.split(
        ' ',
      ),
    );
  });

  test('says of a run without metrics that nothing was measured, and does not call it right', () => {
    const findings = runChecks(evidenceOf({ iterations: 0, episodes: 'none' }));
    const judged = findings.filter(({ verdict }) => verdict !== 'unknown');
    expect(judged.map(({ check }) => check)).toEqual(['control', 'kl']);
  });
});
