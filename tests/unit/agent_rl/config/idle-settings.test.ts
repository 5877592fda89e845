import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { mazeRun } from '#tests/support/maze-run.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const search = 'environment: {type: search}\ntools: [{type: search, mode: task}]\n';
const code = 'environment: {type: code_exec}\ntools: [{type: code_exec}]\n';
const fileOf = (text: string) =>
  writeBelow(folder, 'run.yaml', `${text}datasets: [{dir: tasks}]\n`);

async function warningsOf(text: string, overrides: readonly string[], training = true) {
  const file = fileOf(text);
  const { loaded } = await prepareRun({ file, overrides, training });
  return loaded.warnings.map((warning) => warning.replaceAll(file, 'run.yaml'));
}

const sft = 'train.mode=sft';

test('a setting inside a block of a plugin is named too', async () => {
  const web =
    'tools.0={type: search, mode: web, web: {provider: tavily, apiKeyEnv: KEY, maxRetries: 0}}';
  const warnings = await warningsOf(search, [web, 'tools.0.web.backoffFactor=5']);
  expect(warnings).toEqual([
    'tools.0.web.backoffFactor 5 (--set tools.0.web.backoffFactor=5) has no effect: tools.0.web.maxRetries is 0.',
  ]);
});

describe('a setting that cannot act in the run is named with its place and the reason', () => {
  test.each([
    [['run.device=cuda', 'run.decoders=2'], 'run.decoders 2', 'run.device is not cpu'],
    [
      ['generator={type: served, url: "http://127.0.0.1:1"}', 'run.decoders=2'],
      'run.decoders 2',
      'the generator of this run is not the engine',
    ],
    [
      ['learner={type: tinker, url: "http://127.0.0.1:1"}', 'train.recompute=blocks'],
      'train.recompute',
      'the learner of this run computes elsewhere',
    ],
    [['train.finalRatio=0.3'], 'train.finalRatio 0.3', 'train.schedule is constant'],
    [
      ['algorithm.advantage.std=none', 'algorithm.advantage.eps=0.5'],
      'algorithm.advantage.eps 0.5',
      'algorithm.advantage.std is "none"',
    ],
    [['algorithm.loss.clipLow=0.1'], 'algorithm.loss.clipLow 0.1', 'the probability ratio is 1'],
    [['algorithm.loss.clipHigh=0.4'], 'algorithm.loss.clipHigh 0.4', 'the probability ratio is 1'],
    [['rollout.failures.penalty=-2'], 'rollout.failures.penalty -2', 'penalise'],
    [['datasets.0.environment=search'], 'datasets.0.environment', 'the run has one environment'],
    [['datasets.0.weight=3'], 'datasets.0.weight 3', 'no second source'],
    [
      ['eval.before=false', 'eval.after=false', 'eval.maxTasks=9'],
      'eval.maxTasks 9',
      'nothing is evaluated',
    ],
    [
      ['eval.strategy=greedy', 'eval.temperature=0.5'],
      'eval.temperature 0.5',
      'greedy makes one attempt',
    ],
    [['eval.selector=format'], 'eval.selector', 'only eval.strategy best-of-n'],
    [['eval.every=40'], 'eval.every 40', 'the run ends before'],
    [['eval.selectionTasks=9'], 'eval.selectionTasks 9', 'checkpoint.keepBest is false'],
    [['checkpoint.every=0', 'checkpoint.keepLast=5'], 'checkpoint.keepLast 5', 'last checkpoint'],
    [['checkpoint.every=40', 'checkpoint.keepLast=5'], 'checkpoint.keepLast 5', 'last checkpoint'],
    [['sandbox.wallS=9'], 'sandbox.wallS 9', 'nothing in this run executes programs'],
    [
      ['policy.sampling.allowBiasedGradient=true'],
      'policy.sampling.allowBiasedGradient true',
      'the gradient is unbiased',
    ],
    [
      ['environment.freeSearches=5'],
      'environment.freeSearches 5',
      'environment.searchPenalty is 0',
    ],
    [['environment.openings=[so]'], 'environment.openings', 'environment.match is "contains"'],
    [
      ['rewards=[{type: length, perWord: 0}]', 'rewards.0.freeWords=9'],
      'rewards.0.freeWords 9',
      'rewards.0.perWord is 0',
    ],
    [
      [
        'environment=[{type: search}, {type: question}]',
        'datasets.0.environment=search',
        'environment.0.freeSearches=5',
      ],
      'environment.0.freeSearches 5',
      'environment.0.searchPenalty is 0',
    ],
    [
      [
        'rewards=[{type: answer_similarity}]',
        'rewards.0.floor=0.2',
        'rewards.0.embedder={type: words}',
        'rewards.0.pairs=9',
      ],
      'rewards.0.pairs 9',
      'rewards.0.floor is 0.2',
    ],
    [[sft, 'rollout.groupSize=4'], 'rollout.groupSize 4', 'plays no episodes'],
    [[sft, 'algorithm.epochs=2'], 'algorithm.epochs 2', 'does not learn from episodes'],
    [[sft, 'policy.sampling.topP=0.9'], 'policy.sampling.topP 0.9', 'does not learn from episodes'],
    [[sft, 'environment.systemPrompt=Be brief'], 'environment.systemPrompt', 'plays no episodes'],
    [[sft, 'rewards=[{type: brevity}]'], 'rewards', 'plays no episodes'],
    [[sft, 'tools.0.topK=3'], 'tools.0.topK 3', 'calls none'],
    [[sft, 'eval.maxTasks=9'], 'eval.maxTasks 9', 'plays no episodes while eval.every is 0'],
    [
      [sft, 'checkpoint.every=0', 'checkpoint.keepLast=5'],
      'checkpoint.keepLast 5',
      'only its last',
    ],
    [[sft, 'dataset.shuffle=false'], 'dataset.shuffle false', 'in a new order each pass'],
  ])('%j', async (overrides, setting, why) => {
    const [warning, ...more] = await warningsOf(search, overrides);
    expect(more).toEqual([]);
    expect(warning).toContain(`${setting} (--set ${overrides.at(-1)}) has no effect: `);
    expect(warning).toContain(why);
  });

  test('several with one reason are one sentence, each with its line', async () => {
    const text = `${search}train: {mode: sft}\nrollout:\n  maxTurns: 9\n  groupSize: 3\n`;
    expect(await warningsOf(text, [])).toEqual([
      'rollout.groupSize 3 (run.yaml:6), rollout.maxTurns 9 (run.yaml:5) have no effect: supervised training plays no episodes while eval.every is 0.',
    ]);
  });

  test('a value that is the default is no complaint, and neither is one that acts', async () => {
    expect(await warningsOf(search, ['train.finalRatio=0.1', 'sandbox.wallS=5'])).toEqual([]);
    expect(
      await warningsOf(code, [
        'sandbox.wallS=9',
        'algorithm.epochs=2',
        'algorithm.loss.clipLow=0.1',
        'environment={type: search, searchPenalty: 0.1, freeSearches: 1, match: whole, openings: [so]}',
        'tools=[{type: search, mode: task}, {type: code_exec}]',
        'train.schedule=cosine',
        'train.finalRatio=0.3',
        'eval.every=39',
      ]),
    ).toEqual([]);
  });

  test('a plugin without settings has none that could be idle', async () => {
    expect(await warningsOf(search, [sft, 'tools.1={type: calculator}'])).toEqual([]);
    const maze = mazeRun(folder);
    const { loaded } = await prepareRun({ file: maze, overrides: [sft], training: true });
    expect(loaded.warnings).toEqual([]);
  });

  test('a job that does not train says nothing of settings for training', async () => {
    expect(await warningsOf(search, ['train.finalRatio=0.3'], false)).toEqual([]);
    expect(await warningsOf(search, ['train.contextWeight=0.3'], false)).toEqual([]);
  });
});

describe('what is surely a mistake', () => {
  const mistakes = [
    ['train.contextWeight=0.5', 'train.contextWeight', 'trains on sampled tokens alone'],
    [`${sft} train.control=shuffled-rewards`, 'train.control', 'has no rewards to shuffle'],
    ['policy.sampling.topP=0.9', 'policy.sampling.topP', 'the gradient is biased'],
    ['policy.sampling.topK=20', 'policy.sampling.topK', 'the gradient is biased'],
    ['policy.sampling.minP=0.1', 'policy.sampling.minP', 'the gradient is biased'],
  ] as const;

  test.each(mistakes)('%s is refused in training, with its place', async (sets, path, why) => {
    const overrides = sets.split(' ');
    const file = fileOf(search);
    const failure = await rejectionOf(prepareRun({ file, overrides, training: true }));
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(failure.message).toContain(`--set ${overrides.at(-1)} ${path}: `);
    expect(failure.message).toContain(why);
  });
});

test('a biased gradient can be accepted, and is then said of the run; parity bounds do nothing with it', async () => {
  const accepted = ['policy.sampling.allowBiasedGradient=true', 'policy.sampling.minP=0.1'];
  expect(await warningsOf(search, [...accepted, 'train.parityBound.max=0.01'])).toEqual([
    expect.stringMatching(/^train\.parityBound\.max 0\.01 .* has no effect: policy\.sampling cuts/),
    expect.stringMatching(/^policy\.sampling\.minP 0\.1 in training: .*the gradient is biased/),
  ]);
});

test('the commands that train say it before the job, and the job is given it for its log', async () => {
  const given: (readonly string[])[] = [];
  const job = ({ loaded }: { loaded: { warnings: readonly string[] } }) => {
    given.push(loaded.warnings);
    return Promise.resolve({});
  };
  const file = fileOf(search);
  const args = ['--config', file, '--set', 'train.finalRatio=0.3'];
  const jobs = { train: job, sft: job, evaluate: job };
  for (const [command, times] of Object.entries({ train: 1, sft: 1, eval: 0 })) {
    const { stdout } = await commandLine([command, ...args], { jobs });
    expect(stdout.split('\n').filter((line) => line.startsWith('Note: train.fin'))).toHaveLength(
      times,
    );
    expect(given.pop()).toHaveLength(times);
  }
  const mistaken = [...args, '--set', 'train.contextWeight=0.5'];
  for (const begun of [[], ['--resume', folder]])
    expect(await commandLine(['train', ...begun, ...mistaken], { jobs })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('train.contextWeight: 0.5 has no effect'),
    });
});
