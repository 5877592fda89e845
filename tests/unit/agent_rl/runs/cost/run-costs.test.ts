import { expect, test } from '@jest/globals';

import type { Rollout } from '#agent_rl/core/rollout.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { RunCosts } from '#agent_rl/runs/cost/run-costs.ts';
import { played } from '#tests/support/rollouts.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

function configOf(more: string) {
  const task =
    'environment: {type: code_exec}\ndatasets: [{dir: tasks}]\ntools: [{type: code_exec}]';
  const text = `${task}\ntrain: {iterations: 6}\n${more}\n`;
  return loadConfig({ file: writeBelow(folder, 'run.yaml', text), overrides: [] }).config;
}

/** Two turns: 4 tokens sampled after 10, and 3 after 20. */
const spans = [
  { start: 0, end: 10, source: 'user' },
  { start: 10, end: 14, source: 'sampled', version: 0 },
  { start: 14, end: 20, source: 'tool' },
  { start: 20, end: 23, source: 'sampled', version: 0 },
] as const;
const episode = played({ sequences: [{ tokens: [], logProbs: [], spans }] });

const metrics = { 'train/updatedTokens': 46, 'seconds/total': 5, 'seconds/collect': 3 };

/** A session with a clock of its own, and 4 attempts an evaluation, 2 of them for the choice of the best checkpoint. */
function session(more: string) {
  let time = 0;
  const given = { config: configOf(more), attempts: { heldOut: 4, selection: 2 } };
  const costs = new RunCosts({ ...given, clock: () => time });
  const wait = (seconds: number) => (time += 1000 * seconds);
  const play = (rollout: Rollout) => costs.on({ type: 'rollout', rollout });
  const evaluate = (attempts: number, seconds: number) => {
    costs.on({ type: 'phase', name: 'evaluate', when: 'during', iteration: 0, episodes: attempts });
    for (let attempt = 0; attempt < attempts; attempt++)
      costs.on({ type: 'evaluation-rollout', rollout: episode, episodes: attempts });
    wait(seconds);
    costs.on({ type: 'evaluation', when: 'during', iteration: 0, metrics: {}, evaluation: {} });
  };
  const end = (iteration: number, changes = {}) =>
    costs.on({ type: 'iteration', iteration, metrics: { ...metrics, ...changes }, learned: [] });
  const iterate = (iteration: number, seconds: number) => {
    play(episode);
    play(episode);
    wait(seconds);
    return end(iteration, { 'seconds/total': seconds });
  };
  return { costs, wait, play, evaluate, end, iterate };
}

test('each turn reads its whole context, and tokens of failed attempts were sampled too', () => {
  const { costs, play, end } = session('eval: {every: 0}');
  play(episode);
  const failure = { owner: 'host', retryable: true } as const;
  const outcome = 'infrastructure-error';
  const failedAttempts = [{ outcome, problem: 'gone', failure, sampledTokens: 5 } as const];
  play(played({ sequences: [], failedAttempts }));
  end(1);
  // 10 + 20 read; 4 + 3 + 5 sampled.
  expect(costs.tokens).toEqual({ read: 30, sampled: 12, trained: 46 });
});

test('the first iteration says how long the run takes, and with prices what it costs', () => {
  const { costs, evaluate, iterate } = session(`
eval: {every: 2, before: true, after: true}
run: {prices: {currency: EUR, read: 1000, sampled: 2000, trained: 3000}}
`);
  evaluate(4, 8);
  expect(costs.secondsLeft()).toBeUndefined();
  /*
   * Five more iterations of 5 s and of 60 read, 14 sampled, 46 trained on. After iterations 2, 4 and 6, evaluations of 4 attempts
   * of 2 s and two choices of the best checkpoint, with 2 attempts, and one at the end: 18 attempts of 30 read, 7 sampled.
   * 840 read at 0.001, 196 sampled at 0.002, 230 trained on at 0.003. 13 s have passed.
   */
  expect(iterate(1, 5)).toBe(
    'Estimate from the first iteration: 1 min 14 s in total, 1 min 01 s remaining with 840 tokens read, 196 sampled, 230 trained on: 1.92 EUR',
  );
  expect(iterate(2, 5)).toBeUndefined();
});

test('an attempt takes as long as one of training until something was evaluated', () => {
  const { iterate } = session('eval: {every: 0, before: false, after: true}');
  // One more iteration of 5 s; 4 attempts after it and 2 of the choice, each half of the 3 s in which two were drawn.
  expect(iterate(5, 5)).toBe(
    'Estimate from the first iteration: 19 s in total, 14 s remaining with 240 tokens read, 56 sampled, 46 trained on',
  );
});

test('the time left follows from the newest iterations, what lies between them included, and goes by', () => {
  const { costs, wait, evaluate, iterate } = session('eval: {every: 0, after: false}');
  iterate(1, 30);
  // 5 iterations of 30 s, and 2 attempts of 1.5 s for the choice.
  expect(costs.secondsLeft()).toBe(153);
  wait(1);
  evaluate(2, 10);
  expect(costs.secondsLeft()).toBe(142);
  iterate(2, 4);
  // 4 of 5 s, a checkpoint of 1 s included, and 2 attempts of 5 s; the slow beginning does not count any more.
  expect(costs.secondsLeft()).toBe(30);
});
