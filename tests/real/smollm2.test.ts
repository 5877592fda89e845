import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { importGguf } from '#model/gguf/import-gguf.ts';
import { smolLm2File } from '#scripts/recipes/smollm2/smollm2-file.ts';
import { readLines } from '../support/acme-project.ts';
import type { RealServer } from '../support/real-server.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// SmolLM2-135M-Instruct learns sums that it sometimes answers: 64 episodes an iteration, three updates of an adapter, drawn in
// this process and by vLLM. See `vllm.test.ts` for its environment; the model comes from PyPI.

const folder = temporaryFolder();
const model = join(folder, 'smollm2');
let server: RealServer;
let file = '';

/** Sums of a number up to 8 and one from 11 on, each asked once. */
const sums = (first: number, count: number): string =>
  Array.from({ length: count }, (_, i) => {
    const [a, b] = [1 + ((first + i) % 8), 11 + 3 * Math.floor((first + i) / 8)];
    const question = `What is ${a} + ${b}? Reply with the number alone.`;
    return `${JSON.stringify({ question, answer: String(a + b) })}\n`;
  }).join('');

const config = {
  model: { path: model, lora: { rank: 8, alpha: 32 } },
  policy: { type: 'huggingface', maxTurnTokens: 16, maxContextTokens: 128 },
  tools: [],
  environment: { type: 'question', match: 'number' },
  datasets: [{ dir: join(folder, 'data'), columns: { question: 'question', answer: 'answer' } }],
  rollout: { tasksPerStep: 8, groupSize: 8, workers: 64, maxTurns: 1, maxEpisodeTokens: 128 },
  algorithm: { name: 'grpo', microBatchTokens: 1024 },
  train: { iterations: 3, learningRate: 1e-3 },
  eval: { before: false, after: false },
  run: { outputDir: join(folder, 'runs') },
};

beforeAll(async () => {
  writeBelow(folder, 'data/train.jsonl', sums(0, 24));
  writeBelow(folder, 'data/eval.jsonl', sums(24, 8));
  const python = process.env['AGENT_RL_PYTHON312'] ?? 'python3';
  await importGguf(smolLm2File(python, folder), model, 'F32');
  file = writeBelow(folder, 'run.yaml', JSON.stringify(config));
  const more = '--max-num-seqs 64 --enable-lora --max-lora-rank 8 --max-loras 2'.split(' ');
  const log = join(folder, 'vllm.log');
  server = await startVllm(vllmProgram(folder), model, { log, more });
  await server.ready;
});
afterAll(() => server.kill());

const told =
  'rollout/successRate train/gradNorm parity/maxAbsLogProbGap seconds/collect seconds/update'.split(
    ' ',
  );

const generators = {
  'this process': () => ({}),
  vLLM: () => ({ 'generator.type': 'vllm', 'generator.urls': [server.url] }),
};

describe.each(Object.entries(generators))(
  'log-probabilities of tokens sampled by %s match',
  (name, overrides) => {
    test('three updates have a gradient, and generator and learner agree within 1e-4 after each', async () => {
      const named = { 'run.name': name.replace(' ', '-'), ...overrides() };
      const ended = await trainAgent({ config: file, overrides: named });
      const lines = readLines(String(ended['run']), 'metrics.jsonl');
      const shown = lines.map((line) => told.map((metric) => `${metric} ${String(line[metric])}`));
      process.stderr.write(`SmolLM2 drawn by ${name}:\n${shown.join('\n')}\n`);
      expect(lines).toHaveLength(3);
      for (const line of lines) {
        expect(line['rollout/episodes']).toBe(64);
        expect(line['train/gradNorm']).toBeGreaterThan(0);
        expect(line['parity/maxAbsLogProbGap']).toBeLessThan(1e-4);
      }
      const { 'rollout/successRate': rate } = lines[0]!;
      expect(rate).toBeGreaterThan(0);
      expect(rate).toBeLessThan(1);
    });
  },
);
