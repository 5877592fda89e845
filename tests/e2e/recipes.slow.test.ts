import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readLines } from '../support/acme-project.ts';
import { builtProgram, succeeded } from '../support/built-program.ts';
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
const mbpp = { 'datasets.0.dir': join(fixtures, 'mbpp') };
const medquad = {
  'datasets.0.dir': at('medquad'),
  'tools.0.corpus.path': at('medquad-index'),
};
const one = ['environment'];
const four = ['environment', 'format', 'integer_answer', 'valid_code'];
const searched = ['environment', 'search/mrr', 'answer_similarity', 'format'];

const caseOf = (
  recipe: string,
  [family, texts]: [QwenFamily, keyof typeof said],
  scores: readonly string[],
  data: Case['data'],
): Case => ({ recipe, model: { family, texts }, scores, data });

const cases: readonly Case[] = [
  caseOf('gsm8k_calculator', ['qwen2', 'calculator'], one, gsm8k),
  caseOf('gsm8k_code', ['qwen3', 'code'], ['environment', 'valid_code'], gsm8k),
  caseOf('gsm8k_cuda', ['qwen3', 'calculator'], one, gsm8k),
  caseOf('gsm8k_vllm', ['qwen2', 'calculator'], one, gsm8k),
  caseOf('mbpp_cuda', ['qwen2', 'code'], one, mbpp),
  caseOf('aime_cuda', ['qwen3', 'thought'], four, aime),
  caseOf('aime_tinker', ['qwen3', 'thought'], four, aime),
  caseOf('medquad_qwen3', ['qwen3', 'search'], searched, medquad),
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
    succeeded(builtProgram('agent-rl', args, folder));
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
    const named = { 'model.path': modelFolder(model), 'run.name': recipe };
    const overrides = { ...elsewhere, ...smaller, ...data, ...named };
    const config = join(recipes, `${recipe}.yaml`);
    const { run } = await trainAgent({ config, overrides, quiet: true });
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

const away = 'http://127.0.0.1:9';

test.each([
  ['gsm8k_vllm', 'generator', { 'generator.urls': [away], 'generator.patienceS': 1 }],
  [
    'aime_tinker',
    'learner',
    {
      'learner.url': away,
      'learner.patienceS': 1,
      'generator.url': away,
      'generator.patienceS': 1,
    },
  ],
] as const)(
  'the recipe %s passes every check until it calls its service, a remote %s',
  async (recipe, block, overrides) => {
    const file = join(recipes, `${recipe}.yaml`);
    const { model, data } = cases.find((known) => known.recipe === recipe)!;
    const { config } = (await prepareRun({ file, training: true })).loaded;
    expect(config[block].type).not.toBe('engine');
    process.env['TINKER_API_KEY'] = 'none';
    const named = { 'model.path': modelFolder(model), 'run.name': `${recipe}-elsewhere` };
    const all = { ...smaller, ...data, ...overrides, ...named };
    const training = trainAgent({ config: file, overrides: all, quiet: true });
    await expect(training).rejects.toThrow(/127\.0\.0\.1:9/);
  },
  240_000,
);
