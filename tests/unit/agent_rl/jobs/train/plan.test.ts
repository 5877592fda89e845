import { describe, expect, test } from '@jest/globals';

import { expectedSeconds, timeText } from '#agent_rl/jobs/train/measure-speed.ts';
import { planText, trainingPlan } from '#agent_rl/jobs/train/plan.ts';
import { attemptsOf, loadConfig, runLength } from '#agent_rl/config/index.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const mebibyte = 2 ** 20;
const facts = {
  trainTasks: 40,
  selectionTasks: 0,
  evalTasks: 10,
  parameters: 2_097_152,
  trainedParameters: 524_288,
  sandboxes: 2,
};

const memory = {
  weights: 8 * mebibyte,
  optimizer: 32 * mebibyte,
  cache: 64 * mebibyte,
  activations: 100 * mebibyte,
  runtime: 400 * mebibyte,
  total: 604 * mebibyte,
};
const time = { expectedS: 12, decodeTokensPerSecond: 812.4, trainTokensPerSecond: 2300 };
const opened = {
  memory,
  decoders: 2,
  sandboxTier: 'pyodide',
  bytesForCheckpoints: 1e12,
} as const;

const folder = temporaryFolder();

function runOf(text: string) {
  const path = writeBelow(folder, 'run.yaml', text);
  const { config } = loadConfig({ file: path, overrides: [] });
  return { config, length: runLength(config), attempts: attemptsOf(config.eval) };
}

const settings = `
rollout: {tasksPerStep: 4, groupSize: 8, maxEpisodeTokens: 256}
policy: {maxContextTokens: 512}
algorithm: {epochs: 2, microBatchTokens: 1024}
train: {iterations: 6}
eval: {every: 2, samples: 1}
environment: {type: code_exec}
datasets: [{dir: tasks}]
tools: [{type: code_exec}]
`;

describe('The plan', () => {
  test('counts a transcript for each of several agents, in batches and in time', () => {
    const run = runOf(settings);
    const [one, two] = [trainingPlan(run, facts), trainingPlan(run, { ...facts, agents: 2 })];
    expect(two.rollouts).toBe(one.rollouts);
    expect(two.mostMicroBatchesPerStep).toBe(2 * one.mostMicroBatchesPerStep);
    const seconds = (plan: typeof one) =>
      expectedSeconds(run.config, { ...plan, promptTokens: 56 }, time);
    expect(seconds(two)).toBeCloseTo(2 * seconds(one));
    expect(planText(run, facts, two, opened)).toContain('agents in an episode: 2');
  });

  test('counts rollouts, steps, micro-batches and evaluations', () => {
    const plan = trainingPlan(runOf(settings), facts);
    expect(plan).toMatchObject({
      rolloutsPerIteration: 32,
      rollouts: 192,
      optimizerSteps: 12,
      // 32 x 256 tokens in micro-batches of 1024.
      mostMicroBatchesPerStep: 8,
      // Before, after, and at iterations 2 and 4: that of the last is the one after.
      evaluations: 4,
      evalEpisodes: 10,
    });
  });

  test('counts the passes that a KL term and a correction cost before the updates', () => {
    const secondsOf = (text: string) => {
      const run = runOf(settings.replace('algorithm: {', `algorithm: {${text}`));
      const plan = trainingPlan(run, facts);
      return {
        seconds: expectedSeconds(run.config, { ...plan, promptTokens: 56 }, time),
        text: planText(run, facts, plan, opened),
      };
    };
    const none = secondsOf('');
    const both = secondsOf('kl: {kind: k3, weight: 0.1}, correction: {type: tis}, ');
    // A forward pass is a third of an update; 192 episodes that fill half of the 200 tokens beside a prompt that 8 share.
    const tokens = 192 * (100 + 56 / 8);
    expect(both.seconds - none.seconds).toBeCloseTo((2 / 3) * (tokens / 2300), 6);
    expect(both.text).toContain(
      'of 1024 tokens each; one more forward pass for the KL; one more forward pass for the correction\n',
    );
    expect(none.text).not.toContain('one forward pass more');
  });

  test('counts the tasks the best checkpoint is chosen by, and how often they are attempted', () => {
    const run = runOf(settings.replace('samples: 1', 'samples: 3, temperature: 1'));
    const given = { ...facts, trainTasks: 32, selectionTasks: 8 };
    const plan = trainingPlan(run, given);
    // At iterations 2 and 4, and after the last.
    expect(plan).toMatchObject({ evaluations: 4, selections: 3, selectionEpisodes: 24 });
    const text = planText(run, given, plan, opened);
    expect(text).toContain(
      '32 to train on, 10 held out, 8 kept out of training to choose the best checkpoint\n',
    );
    expect(text).toContain(
      '4 x 30 episodes, and 3 x 24 to choose the best checkpoint, temperature 1\n',
    );
    const none = trainingPlan(run, facts);
    expect(none).toMatchObject({ selections: 0, selectionEpisodes: 0 });
    expect(planText(run, facts, none, opened)).toContain('40 to train on, 10 held out\n');
  });

  test('shows the parameters that are trained, and memory including sandboxes', () => {
    const run = runOf(settings);
    const text = planText(run, facts, trainingPlan(run, facts), opened);
    expect(text).toContain('0.52 M of them, 25 %');
    expect(text).not.toMatch(/^ +time/m);
    // 604 + 2 x 230.
    expect(text).toContain(
      'about 1064 MiB: weights 8 MiB, gradients and optimiser 32 MiB, cache 64 MiB, activations 100 MiB, runtime 400 MiB, sandboxes 460 MiB (pyodide)',
    );
    const ofNative = { ...opened, sandboxTier: 'native:ns' } as const;
    // 604 + 60 + 2 x 40.
    expect(planText(run, facts, trainingPlan(run, facts), ofNative)).toContain('about 744 MiB');
  });

  test('estimates how long the run takes only where the speed was measured', () => {
    expect(timeText(undefined)).toBe(
      '  time          not measured: the run estimates it after its first iteration; --measure estimates it now',
    );
    expect(timeText(time)).toBe(
      '  time          about 12 s, a rough estimate, usually too high: this machine trains on 2300 tokens per second and samples 812; assumes that episodes use half of their token limit and that tools take no time',
    );
    expect(timeText({ ...time, decodeTokensPerSecond: null })).toContain(
      'and samples no new tokens;',
    );
    expect(timeText({ expectedS: 61, trainTokensPerSecond: 2300 })).toBe(
      '  time          about 1 min 01 s, a rough estimate: this machine trains on 2300 tokens per second',
    );
  });

  test('says how much of the model is trained', () => {
    const run = runOf(settings);
    const text = (trainedParameters: number): string => {
      const given = { ...facts, trainedParameters };
      return planText(run, given, trainingPlan(run, given), opened);
    };
    expect(text(facts.parameters)).toContain('  trained       2.10 M of them, 100 %\n');
    // 32,256 of 2,097,152.
    expect(text(32_256)).toContain('  trained       0.03 M of them, 1.54 %\n');
  });

  test('says why a stronger sandbox is not used, where the log does not', () => {
    const run = runOf(settings);
    const text = (more: object): string =>
      planText(run, facts, trainingPlan(run, facts), { ...opened, ...more });
    expect(text({ sandboxesSkipped: ['no Python here.'] })).toContain(
      '  warning       sandbox skipped: no Python here.\n',
    );
    expect(text({})).not.toContain('skipped');
  });

  test('says what checkpoints take, and warns where the disk has less room', () => {
    const run = runOf(`${settings}checkpoint: {every: 2, keepLast: 2}\n`);
    const text = (bytesForCheckpoints: number, given = run): string =>
      planText(given, facts, trainingPlan(given, facts), { ...opened, bytesForCheckpoints });
    // 524,288 parameters and two moments of each, in 4 bytes: 6 MiB. Three are there while the third is written.
    expect(text(18 * mebibyte)).toContain(
      '  checkpoints   about 6 MiB each, 12 MiB kept, 18 MiB while one is written',
    );
    expect(text(18 * mebibyte)).not.toContain('warning');
    expect(text(18 * mebibyte - 1)).toMatch(
      /warning {7}the disk of .* has only 18 MiB left: free some space, lower checkpoint\.keepLast, or/,
    );
    const once = runOf(`${settings}checkpoint: {every: 0}\n`);
    expect(text(6 * mebibyte, once)).toContain('  checkpoints   about 6 MiB each');
    const best = runOf(`${settings}checkpoint: {every: 0, keepBest: true}\n`);
    expect(text(18 * mebibyte, best)).toContain('6 MiB each, 12 MiB kept, 18 MiB while');
  });

  test('warns of more memory than the machine has', () => {
    const run = runOf(settings);
    const text = (sandboxes: number): string => {
      const given = { ...facts, sandboxes };
      return planText(run, given, trainingPlan(run, given), opened);
    };
    expect(text(0)).not.toContain('warning');
    expect(text(1e6)).toMatch(
      /this is more than the .* lower sandbox\.workers, rollout\.workers or/,
    );
    const large = { ...opened, memory: { ...opened.memory, total: 1e15 } };
    const without = { ...facts, sandboxes: 0 };
    const { sandboxTier: _none, ...engineAlone } = large;
    expect(planText(run, without, trainingPlan(run, without), engineAlone)).toMatch(
      /of this machine: lower rollout\.workers or/,
    );
  });
});
