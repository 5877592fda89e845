import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { unbiased } from '#agent_rl/core/services/generator.ts';
import { EngineClient } from '#agent_rl/engine-thread/engine-client.ts';
import { evaluateAgent } from '#agent_rl/jobs/evaluate-agent.ts';
import { loadAgent } from '#agent_rl/jobs/load-agent.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { openLanguageModelFolder } from '#model/text/language-model.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { readJson } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { tinyEngine } from '../support/tiny-engine.ts';

/*
 * Two small models with the same tokenizer and other weights. The games are lost; what is learned is to be brief.
 */

const folder = temporaryFolder();
const [start, other] = ['start', 'other'].map((name) => join(folder, name)) as [string, string];
const words = ['sea', 'road', 'hill', 'lamp'];
const rows = words.map((secret, i) =>
  JSON.stringify({ task_id: `t${i}`, prompt: secret, words, secret }),
);
const config = join(folder, 'run.yaml');
const engines: EngineClient[] = [];

beforeAll(async () => {
  await writeTerseModel(start, 1);
  await writeTerseModel(other, 2);
  const held = { task_id: 'held', prompt: 'sand', words: ['sand', 'tree'], secret: 'sand' };
  writeBelow(folder, 'tasks/train.jsonl', `${rows.join('\n')}\n`);
  writeBelow(folder, 'tasks/eval.jsonl', `${JSON.stringify(held)}\n`);
  writeBelow(
    folder,
    'run.yaml',
    `run: {seed: 3, engineThreads: 1, outputDir: ${folder}}
model: {path: ${start}}
policy: {maxTurnTokens: 12, maxContextTokens: 160}
environment: {type: word_game, maxHintWords: 100}
rewards: [{type: length, freeWords: 0, perWord: 0.1}]
datasets: [{dir: ${folder}/tasks}]
rollout: {tasksPerStep: 4, groupSize: 4, workers: 8, maxTurns: 1, maxEpisodeTokens: 160}
train: {iterations: 2, learningRate: 0.001, warmupSteps: 0}
eval: {before: false, after: false}
`,
  );
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

/** A model with random weights that ends some of its turns early. */
async function writeTerseModel(model: string, seed: number): Promise<void> {
  const parameters = initialParameters(smallModelConfig, new KeyedRng(seed, 'terse'));
  await writeSmallModel(model, smallModelConfig, parameters);
  const { endOfTurnId } = await openLanguageModelFolder(model);
  const embeddings = parameters.get('model.embed_tokens.weight')!;
  const { hiddenSize } = smallModelConfig;
  for (let i = endOfTurnId * hiddenSize; i < (endOfTurnId + 1) * hiddenSize; i++)
    embeddings[i] = 200 * embeddings[i]!;
  await writeSmallModel(model, smallModelConfig, parameters);
}

type Overrides = Readonly<Record<string, unknown>>;

const train = async (name: string, overrides: Overrides, resume?: string) => {
  const result = await trainAgent({
    config,
    overrides: { 'run.name': name, ...overrides },
    ...(resume !== undefined && { resume }),
  });
  return { sha256: result['weightsSha256'], run: join(folder, name) };
};
const sha256Of = (name: string) => readJson(folder, name, 'summary.json')['weightsSha256'];
const refusal = (overrides: Overrides) => rejectionOf(train('refused', overrides));

/** What an agent drew in an iteration, and from which context. */
async function drawn(run: string, agent: string, iteration: number) {
  return (await episodesIn(run, 'train'))
    .filter((one) => one.agent === agent && one.iteration === iteration)
    .flatMap(({ taskId, sample, seed, sequences: [sequence] }) => {
      const span = sequence?.spans.find(({ source }) => source === 'sampled');
      if (sequence === undefined || span === undefined) return [];
      const key = { seed, taskId, sample, turn: 0, agent };
      const { start: from, end } = span;
      const [context, tokens] = [sequence.tokens.slice(0, from), sequence.tokens.slice(from, end)];
      return [{ key, context, tokens, version: span.version }];
    })
    .toSorted((a, b) =>
      `${a.key.taskId}${a.key.sample}`.localeCompare(`${b.key.taskId}${b.key.sample}`),
    );
}

/** What a model says in the same places. */
async function drawnFrom(model: string, places: Awaited<ReturnType<typeof drawn>>) {
  const sizes = { rows: 8, maxContextTokens: 160, microBatchTokens: 256 };
  const engine = await EngineClient.open({ ...tinyEngine(model), ...sizes });
  engines.push(engine);
  const { generator } = engine;
  const { stopTokens } = await openLanguageModelFolder(model);
  return Promise.all(
    places.map(async ({ key, context }, at) => {
      const request = { episode: `${at}`, tokens: context, maxTokens: 12, stopTokens };
      const { tokens } = await generator.generate({ ...request, sampling: unbiased, key });
      generator.release(`${at}`);
      return [...tokens];
    }),
  );
}

describe('An agent played by a frozen model', () => {
  const agents = [{ name: 'guesser', policy: 'opponent' }];
  const policies = { opponent: { model: { path: other } } };

  test('answers as that model does while the other agent learns', async () => {
    const { run } = await train('opponent', { agents, policies });
    for (const iteration of [1, 2]) {
      const guesses = await drawn(run, 'guesser', iteration);
      expect(guesses.length).toBeGreaterThan(4);
      expect(guesses.map(({ tokens }) => tokens)).toEqual(await drawnFrom(other, guesses));
    }
    const hints = await drawn(run, 'speaker', 2);
    expect(hints.map(({ version }) => version)).toEqual(hints.map(() => 1));
    const guessed = await drawn(run, 'guesser', 2);
    expect(guessed.map(({ version }) => version)).toEqual(guessed.map(() => 0));
    // Its first hints match the start model; its second no more.
    const spoken = await drawn(run, 'speaker', 1);
    expect(spoken.map(({ tokens }) => tokens)).toEqual(await drawnFrom(start, spoken));
    expect(hints.map(({ tokens }) => tokens)).not.toEqual(await drawnFrom(start, hints));
  });

  test('keeps a run from being resumed with another frozen model', async () => {
    const model = join(folder, 'opponent-of-resumed');
    cpSync(other, model, { recursive: true });
    const own = { agents, policies: { opponent: { model: { path: model } } } };
    const whole = await train('whole', own);
    const { run } = await train('resumed', { ...own, 'train.maxIterations': 1 });
    rmSync(model, { recursive: true });
    cpSync(start, model, { recursive: true });
    const refused = await rejectionOf(train('resumed', own, run));
    expect(refused).toMatchObject({ code: 'CHECKPOINT_INVALID' });
    expect(refused.message).toContain(
      `the models of named policies, now policies.opponent ${model}`,
    );
    rmSync(model, { recursive: true });
    cpSync(other, model, { recursive: true });
    expect((await train('resumed', own, run)).sha256).toBe(whole.sha256);
  });

  test.each([
    [{ agents: [{ name: 'guesser', policy: 'x' }] }, 'agents.0.policy: no policy is named "x"'],
    [{ agents, policies: { opponent: { model: { path: 'x' } } } }, 'policies.opponent: '],
    [
      { agents, policies: { opponent: { model: { path: 'model/search-starter' } } } },
      'model/search-starter and the run',
    ],
    [{ policies: { idle: {} } }, 'policies.idle: nothing uses this policy'],
    [{ agents, policies: { opponent: {}, policy: {} } }, 'policies.policy: is not an allowed name'],
  ])('is refused with the settings %j', async (overrides, message) => {
    expect((await refusal(overrides)).message).toContain(message);
  });
});

describe('Two policies with a learner each', () => {
  const both = {
    agents: [{ name: 'guesser', policy: 'guesser' }],
    policies: { guesser: { model: { path: other }, learner: { type: 'engine' } } },
    'checkpoint.every': 1,
  };
  const hashes = (name: string) => {
    const { weightsSha256, policies } = readJson(folder, name, 'summary.json');
    return { weightsSha256, policies };
  };

  test('each learns from its own tokens, and resumes bit by bit', async () => {
    const whole = await train('two', both);
    const spoken = await drawn(whole.run, 'speaker', 1);
    const guessed = await drawn(whole.run, 'guesser', 1);
    expect(spoken.map(({ tokens }) => tokens)).toEqual(await drawnFrom(start, spoken));
    expect(guessed.map(({ tokens }) => tokens)).toEqual(await drawnFrom(other, guessed));
    // In the second iteration both draw from weights that have moved.
    const later = await drawn(whole.run, 'guesser', 2);
    expect(later.map(({ version }) => version)).toEqual(later.map(() => 1));
    const saved = join(whole.run, 'checkpoints', 'step-1', 'guesser');
    expect(later.map(({ tokens }) => tokens)).toEqual(await drawnFrom(saved, later));
    const { run } = await train('two-resumed', { ...both, 'train.maxIterations': 1 });
    await train('two-resumed', both, run);
    expect(hashes('two-resumed')).toEqual(hashes('two'));
    expect(hashes('two').policies).toEqual({ guesser: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('each is evaluated and opened by its name', async () => {
    const { run } = await train('named', both);
    const tasks = [{ task_id: 'a', prompt: 'sea', words, secret: 'sea' }];
    const folders: string[] = [];
    for (const policyName of [undefined, 'guesser']) {
      const { model } = await evaluateAgent(run, { tasks, ...(policyName && { policyName }) });
      folders.push(String(model));
    }
    const saved = join(run, 'checkpoints', 'step-2');
    expect(folders).toEqual([saved, join(saved, 'guesser')]);
    const asked = [];
    for (const policyName of ['policy', 'guesser']) {
      const agent = await loadAgent(run, { policyName });
      asked.push((await agent.ask('sea')).text);
      await agent.close();
    }
    expect(asked[0]).not.toBe(asked[1]);
    const unknown = await rejectionOf(loadAgent(run, { policyName: 'speaker' }));
    expect(unknown.message).toContain('no policy named "speaker". Policies: policy, guesser.');
  });

  test('each goes on in a new run from its own weights, and a resume needs both', async () => {
    const { run } = await train('earlier', { ...both, 'train.iterations': 1 });
    const policies = { guesser: { learner: { type: 'engine' } } };
    const next = await train('later', { ...both, policies, 'model.path': run });
    const guessed = await drawn(next.run, 'guesser', 1);
    const saved = join(run, 'checkpoints', 'step-1', 'guesser');
    expect(guessed.map(({ tokens }) => tokens)).toEqual(await drawnFrom(saved, guessed));
    const frozen = { ...both, policies: { guesser: { model: { path: other } } } };
    const refused = await rejectionOf(train('earlier', frozen, run));
    expect(refused).toMatchObject({ code: 'CHECKPOINT_INVALID' });
    expect(refused.message).toContain('trains the named policies [guesser]');
  });

  test('one learns in the first iteration as it does beside a frozen one', async () => {
    // What the speaker draws and earns does not depend on the guesser in its first iteration.
    const one = { ...both, 'train.iterations': 1 };
    const two = await train('first-of-two', one);
    const frozen = { ...one, policies: { guesser: { model: { path: other } } } };
    expect((await train('first-of-one', frozen)).sha256).toBe(two.sha256);
  });
});

describe('The reference of a KL term', () => {
  const kl = { kind: 'k3', weight: 0.5 };

  test('may be a separate model, which equals the start model when the files are the same', async () => {
    for (const where of ['loss', 'reward']) {
      const own = await train(`${where}-own`, { 'algorithm.kl': { ...kl, in: where } });
      const named = { 'algorithm.kl': { ...kl, in: where, reference: 'start' } };
      const policies = { start: { model: { path: start } } };
      expect((await train(`${where}-named`, { ...named, policies })).sha256).toBe(own.sha256);
    }
    const far = { 'algorithm.kl': { ...kl, reference: 'far' } };
    const policies = { far: { model: { path: other } } };
    const { sha256 } = await train('loss-far', { ...far, policies });
    expect(sha256).not.toBe(sha256Of('loss-own'));
  });
});

describe('A teacher in a folder', () => {
  const policies = { teacher: { model: { path: other } } };
  const own = { policies, 'algorithm.distill.teacher': 'teacher' };
  const bare = { ...own, 'algorithm.name': 'distill', 'train.iterations': 3 };
  const metricsOf = (name: string) =>
    readFileSync(join(folder, name, 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, number>);

  test('pulls the policy towards itself, by sampled tokens and over its likeliest ones', async () => {
    for (const [name, more] of [
      ['by-token', {}],
      ['by-list', { 'algorithm.distill.topK': 8 }],
    ] as const) {
      const quick = { 'train.learningRate': 0.01, 'train.iterations': 6 };
      await train(name, { ...bare, ...quick, ...more });
      const lines = metricsOf(name);
      expect(lines.at(-1)!['sent/teacherKl']).toBeLessThan(0.98 * lines[0]!['sent/teacherKl']!);
      expect(lines[0]).toMatchObject({ 'ledger/trained': 0, 'ledger/zero-advantage': 0 });
      expect(lines[0]!['ledger/distilled']).toBeGreaterThan(0);
    }
    expect(metricsOf('by-list')[0]!['sent/distillKl']).toBeGreaterThan(0);
  });

  test('a teacher with the weights of the policy teaches nothing', async () => {
    const same = { policies: { teacher: { model: { path: start } } }, 'train.iterations': 1 };
    await train('itself', { ...bare, ...same });
    const [line] = metricsOf('itself');
    expect(Math.abs(line!['sent/teacherKl']!)).toBeLessThan(1e-6);
  });

  test.each([
    [{ 'algorithm.name': 'distill' }, 'algorithm.distill.teacher: is missing'],
    [{ 'algorithm.distill.teacher': 'x' }, 'algorithm.distill.teacher: no policy is named "x"'],
    [{ ...bare, 'algorithm.distill.weight': 0 }, 'the teacher has no effect'],
    [
      { ...bare, policies: { teacher: { learner: { type: 'engine' } } } },
      '"teacher" is trained, but a teacher must not change',
    ],
    [
      { ...bare, policies: { teacher: { model: { path: 'model/search-starter' } } } },
      'different tokenizers',
    ],
  ])('is refused with the settings %j', async (overrides, message) => {
    expect((await refusal(overrides)).message).toContain(message);
  });
});
