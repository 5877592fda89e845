import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readLines } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { type QwenFamily, writeChainModel } from '../support/chain-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * Every recipe for a published model trains a tiny one with the same tokenizer and chat template on real rows. Sizes are
 * made smaller, generators and learners elsewhere are replaced by local ones, and nothing else is changed.
 */

const root = packageRoot();
const recipes = join(root, 'configs', 'recipes');
const fixtures = join(root, 'tests', 'fixtures');
const folder = temporaryFolder();
const at = (...path: string[]): string => join(folder, ...path);

/** Spaced so that few tokens come twice: a token is followed by what follows it anywhere. */
const call = (tool: string, argument: string, value: string): string =>
  `<tool_call>{"name":"${tool}","arguments":{"${argument}": "${value}"}}</tool_call>`;

const turns = (tool: string, argument: string, values: readonly string[]): string[] => [
  ...values.map((value) => call(tool, argument, value)),
  ...['3', '72', 'x'].map((answer) => `\\boxed{${answer}}`),
];

const said = {
  calculator: turns('calculator', 'expression', ['2+3', '7']),
  code: turns('code_exec', 'code', ['print(7)', 'print(7)', '?']),
  thought: turns('code_exec', 'code', ['print(7)', 'print(7)', '?']).map(
    (turn) => `<think>so</think>${turn}`,
  ),
  search: turns('search', 'query', ['diabetes', 'rabies']).map(
    (turn) => `<think>so</think>${turn}`,
  ),
} as const;

interface Case {
  recipe: string;
  model: { family: QwenFamily; texts: keyof typeof said };
  /** Curves of the recipe's own rewards. */
  scores: readonly string[];
  data: Readonly<Record<string, string>>;
}

const gsm8k = { 'datasets.0.dir': at('gsm8k') };
const aime = { 'datasets.0.dir': at('aime') };
const four = ['environment', 'format', 'integer_answer', 'valid_code'];

const cases: readonly Case[] = [
  {
    recipe: 'gsm8k_calculator',
    model: { family: 'qwen2', texts: 'calculator' },
    scores: ['environment'],
    data: gsm8k,
  },
  {
    recipe: 'gsm8k_code',
    model: { family: 'qwen3', texts: 'code' },
    scores: ['environment', 'valid_code'],
    data: gsm8k,
  },
  {
    recipe: 'gsm8k_cuda',
    model: { family: 'qwen3', texts: 'calculator' },
    scores: ['environment'],
    data: gsm8k,
  },
  {
    recipe: 'gsm8k_vllm',
    model: { family: 'qwen2', texts: 'calculator' },
    scores: ['environment'],
    data: gsm8k,
  },
  {
    recipe: 'mbpp_cuda',
    model: { family: 'qwen2', texts: 'code' },
    scores: ['environment'],
    data: { 'datasets.0.dir': join(fixtures, 'mbpp') },
  },
  {
    recipe: 'aime_cuda',
    model: { family: 'qwen3', texts: 'thought' },
    scores: four,
    data: aime,
  },
  {
    recipe: 'aime_tinker',
    model: { family: 'qwen3', texts: 'thought' },
    scores: four,
    data: aime,
  },
  {
    recipe: 'medquad_qwen3',
    model: { family: 'qwen3', texts: 'search' },
    scores: ['environment', 'search/mrr', 'answer_similarity', 'format'],
    data: { 'datasets.0.dir': at('medquad'), 'tools.0.corpus.path': at('medquad-index') },
  },
];

const modelFolder = ({ family, texts }: Case['model']): string => at(`${family}-${texts}`);

const elsewhere = { generator: { type: 'engine' }, learner: { type: 'engine' } };

const smaller = {
  'run.device': 'cpu',
  'run.outputDir': at('runs'),
  'rollout.tasksPerStep': 2,
  'rollout.groupSize': 6,
  'rollout.workers': 12,
  'rollout.maxEpisodeTokens': 1024,
  'policy.maxContextTokens': 1024,
  'policy.maxTurnTokens': 32,
  'algorithm.microBatchTokens': 2048,
  'train.iterations': 2,
  'train.warmupSteps': 0,
  'eval.maxTasks': 2,
  'eval.samples': 1,
};

beforeAll(async () => {
  const questions = (to: string, files: Readonly<Record<string, string>>): void => {
    mkdirSync(at(to), { recursive: true });
    for (const [name, from] of Object.entries(files))
      cpSync(join(fixtures, 'questions', from), at(to, name));
  };
  questions('gsm8k', { 'train.jsonl': 'gsm8k-train.jsonl', 'test.jsonl': 'gsm8k.jsonl' });
  questions('aime', { 'aime24.jsonl': 'aime24.jsonl', 'aime25.jsonl': 'aime25.jsonl' });
  for (const args of [
    ['data', 'prepare', join(fixtures, 'medquad'), '--output', at('medquad')],
    ['data', 'index', at('medquad'), '--output', at('medquad-index')],
  ])
    if (builtProgram('agent-rl', args, folder).code !== 0)
      throw new Error(`agent-rl ${args.join(' ')} failed.`);
  const models = new Map(cases.map(({ model }) => [modelFolder(model), model]));
  for (const [path, { family, texts }] of models)
    await writeChainModel(path, { family, texts: said[texts] });
}, 240_000);

test('every recipe for a published model has a case', () => {
  // The recipes of the search job and of SmolLM2 have their own tests.
  const names = readdirSync(recipes).filter((name) => !/^(search|smollm2)_/.test(name));
  expect(cases.map(({ recipe }) => `${recipe}.yaml`).toSorted()).toEqual(names.toSorted());
});

describe.each(cases)('$recipe', ({ recipe, model, scores, data }) => {
  test('trains for two iterations with its own rewards', async () => {
    const { run } = await trainAgent({
      config: join(recipes, `${recipe}.yaml`),
      overrides: {
        ...elsewhere,
        ...smaller,
        ...data,
        'model.path': modelFolder(model),
        'run.name': recipe,
      },
      quiet: true,
    });
    const lines = readLines(run as string, 'metrics.jsonl');
    expect(lines.map(({ iteration }) => iteration)).toEqual([1, 2]);
    for (const line of lines) {
      expect(line['train/gradNorm']).toBeGreaterThan(0);
      expect(line['train/gradNorm']).toBeLessThan(1e6);
      expect(line['parity/maxAbsLogProbGap']).toBeLessThan(1e-3);
      expect(line['outcome/infrastructure-error'] ?? 0).toBe(0);
      const judged = Object.keys(line).filter((name) => name.startsWith('score/'));
      expect(judged.toSorted()).toEqual(scores.map((name) => `score/${name}`).toSorted());
    }
    // Calls in the model's own format were read, and the tool ran.
    const called = lines.map((line) => Number(line['rollout/toolCallRate']));
    expect(Math.max(...called)).toBeGreaterThan(0);
  }, 240_000);
});

describe('A recipe with a remote learner or generator', () => {
  test.each([
    ['gsm8k_vllm', 'generator', 'http://127.0.0.1:9', /127\.0\.0\.1:9/],
    ['aime_tinker', 'learner', 'http://127.0.0.1:9', /127\.0\.0\.1:9/],
  ])(
    'passes every check until it calls its service: %s, %s',
    async (recipe, block, url, asked) => {
      const file = join(recipes, `${recipe}.yaml`);
      const chosen = cases.find((one) => one.recipe === recipe)!;
      const { config } = (await prepareRun({ file, training: true })).loaded;
      expect(config[block as 'generator' | 'learner'].type).not.toBe('engine');
      process.env['TINKER_API_KEY'] = 'none';
      const away =
        block === 'generator'
          ? { 'generator.urls': [url], 'generator.patienceS': 1 }
          : {
              'learner.url': url,
              'learner.patienceS': 1,
              'generator.url': url,
              'generator.patienceS': 1,
            };
      const training = trainAgent({
        config: file,
        overrides: {
          ...smaller,
          ...chosen.data,
          ...away,
          'model.path': modelFolder(chosen.model),
          'run.name': `${recipe}-elsewhere`,
        },
        quiet: true,
      });
      await expect(training).rejects.toThrow(asked);
    },
    240_000,
  );
});
