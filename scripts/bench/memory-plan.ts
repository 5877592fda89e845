import { memoryPlan } from '../../agent_rl/engine-thread/memory-plan.ts';
import type { ProgramMemory } from '../../agent_rl/learner/train-batch.ts';
import { noRecompute } from '../../agent_rl/learner/train-program.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { benchModel } from './bench-model.ts';
import { answerTo } from './model-shape.ts';
import { table, tableRow } from '../docs/markdown.ts';
import { benchAdapter, benchLoss, qwen3Shape } from './model-shape/shape.ts';

/**
 * Compares the peak that a memory plan foresees with the peak of a process that does the work: one LoRA step on one
 * sequence, random weights. Of the largest models one decoder layer is run, and the whole is planned. `by length` shows how
 * a small model's memory grows with the sequence.
 *
 *   npm run bench:memory -- [filter]
 */
const { config: small, quantization } = qwen3Shape;
const adapters = [benchAdapter];
const medium: ModelConfig = { ...small, hiddenSize: 2048, intermediateSize: 6144 };
const qwen25: ModelConfig = {
  ...small,
  family: 'qwen2',
  vocabSize: 152_064,
  hiddenSize: 3584,
  heads: 28,
  kvHeads: 4,
  intermediateSize: 18_944,
  tiedEmbeddings: false,
  qkNorm: false,
  qkvBias: true,
};
const large: ModelConfig = {
  ...small,
  hiddenSize: 4096,
  layers: 36,
  heads: 32,
  intermediateSize: 12_288,
  tiedEmbeddings: false,
};
const inFourBits = (config: ModelConfig): ModelConfig => ({ ...config, quantization });
const oneLayer = (config: ModelConfig): ModelConfig => inFourBits({ ...config, layers: 1 });

interface Case {
  name: string;
  config: ModelConfig;
  recompute: ProgramMemory['recompute'];
  tokens?: number;
  isRun?: boolean;
}

const lengths = [1024, 2048, 4096, 8192];
const kinds = ['none', 'blocks'] as const;
const byLength = kinds.flatMap((recompute) =>
  lengths.map((tokens): Case => ({
    name: `25.8 M parameters by length: ${tokens} tokens`,
    config: { ...benchModel, maxPositions: 8192 },
    recompute,
    tokens,
  })),
);

const cases: Case[] = [
  { name: 'Qwen3-0.6B, LoRA', config: small, recompute: 'none' },
  { name: 'Qwen3-0.6B, LoRA', config: small, recompute: 'blocks' },
  { name: 'Qwen3-0.6B, QLoRA', config: inFourBits(small), recompute: 'blocks' },
  { name: 'Qwen3-1.7B, QLoRA', config: inFourBits(medium), recompute: 'none' },
  { name: 'Qwen3-1.7B, QLoRA', config: inFourBits(medium), recompute: 'blocks' },
  { name: 'Qwen2.5-7B, QLoRA, one layer', config: oneLayer(qwen25), recompute: 'blocks' },
  { name: 'Qwen3-8B, QLoRA, one layer', config: oneLayer(large), recompute: 'blocks' },
  // No machine of this size runs these.
  { name: 'Qwen2.5-7B, QLoRA', config: inFourBits(qwen25), recompute: 'blocks', isRun: false },
  { name: 'Qwen3-8B, QLoRA', config: inFourBits(large), recompute: 'blocks', isRun: false },
  ...byLength,
];

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;

async function rowOf(one: Case): Promise<string[]> {
  const { name, recompute, tokens = 1024, isRun = true } = one;
  const config = { ...one.config, adapters };
  const plan = await memoryPlan(config, {
    // The process that is measured samples nothing.
    rows: 0,
    maxContextTokens: 16,
    memory: { ...noRecompute, recompute },
    training: {
      microBatchTokens: tokens,
      longestTokens: tokens,
      loss: benchLoss,
      reference: true,
    },
  });
  const cells = [name, recompute, gigabytes(plan.total)];
  if (!isRun) return [...cells, 'not run', '', ''];
  const order = { warmUp: 1, repeats: 1, device: 'cpu', threads: 2 } as const;
  const task = { kind: 'lora-step', tokens, recompute } as const;
  const answer = answerTo({ ...order, name, config, task });
  const share = (100 * (plan.total - answer.peakBytes)) / answer.peakBytes;
  const difference = `${share > 0 ? '+' : ''}${share.toFixed(1)} %`;
  const seconds = `${answer.seconds[0]?.toFixed(1)} s`;
  return [...cells, gigabytes(answer.peakBytes), difference, seconds];
}

const [, , filter = ''] = process.argv;
const header = ['Model', 'train.recompute', 'Planned', 'Peak', 'Difference', 'A step'];
process.stdout.write(
  `One LoRA GRPO step, one sequence of 1,024 tokens unless stated otherwise, rank ${benchAdapter.rank} on all linear layers, two threads\n\n`,
);
process.stdout.write(`${table(header, [])}\n`);
for (const one of cases.filter(({ name }) => name.includes(filter)))
  process.stdout.write(`${tableRow(await rowOf(one))}\n`);
