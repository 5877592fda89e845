import { memoryPlan } from '../../agent_rl/engine-thread/memory-plan.ts';
import type { ProgramMemory } from '../../agent_rl/learner/program-memory.ts';
import { noRecompute } from '../../agent_rl/learner/train-program.ts';
import { messageOf } from '../../agent_rl/core/errors.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { answerTo } from './qwen3-shape.ts';
import { benchAdapter, qwen3Shape } from './qwen3-shape/shape.ts';

/**
 * Compares the peak that a memory plan foresees with the peak of a process that does the work: one LoRA step on one
 * sequence, random weights. Of the largest models one decoder layer is run, and the whole is planned.
 *
 *   npm run bench:memory -- [filter]
 */
interface Case {
  name: string;
  config: ModelConfig;
  recompute: ProgramMemory['recompute'];
  /** Planned and not run: no machine of this size runs it. */
  plannedOnly?: boolean;
}

const tokens = 1024;
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

const cases: readonly Case[] = [
  { name: 'Qwen3-0.6B, LoRA', config: small, recompute: 'none' },
  { name: 'Qwen3-0.6B, LoRA', config: small, recompute: 'blocks' },
  { name: 'Qwen3-0.6B, QLoRA', config: inFourBits(small), recompute: 'blocks' },
  { name: 'Qwen3-1.7B, QLoRA', config: inFourBits(medium), recompute: 'none' },
  { name: 'Qwen3-1.7B, QLoRA', config: inFourBits(medium), recompute: 'blocks' },
  { name: 'Qwen2.5-7B, QLoRA, one layer', config: oneLayer(qwen25), recompute: 'blocks' },
  { name: 'Qwen3-8B, QLoRA, one layer', config: oneLayer(large), recompute: 'blocks' },
  {
    name: 'Qwen2.5-7B, QLoRA',
    config: inFourBits(qwen25),
    recompute: 'blocks',
    plannedOnly: true,
  },
  { name: 'Qwen3-8B, QLoRA', config: inFourBits(large), recompute: 'blocks', plannedOnly: true },
];

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;

async function rowOf({ name, config: base, recompute, plannedOnly }: Case): Promise<string> {
  const config = { ...base, adapters };
  const plan = await memoryPlan(config, {
    // The process that is measured samples nothing.
    rows: 0,
    maxContextTokens: 16,
    memory: { ...noRecompute, recompute },
    training: {
      microBatchTokens: tokens,
      longestTokens: tokens,
      loss: {
        name: 'ppo',
        clipLow: 0.2,
        clipHigh: 0.2,
        kl: { kind: 'k3', weight: 0.01 },
        temperature: 1,
      },
      reference: true,
    },
  });
  const cells = [name, recompute, gigabytes(plan.total)];
  if (plannedOnly === true) return `| ${[...cells, 'not run', '', ''].join(' | ')} |`;
  const order = { warmUp: 1, repeats: 1, threads: 2 } as const;
  const task = { kind: 'lora-step', tokens, recompute } as const;
  const answer = await answerTo({ ...order, name, config, task }, undefined);
  const share = (100 * (plan.total - answer.peakBytes)) / answer.peakBytes;
  const difference = `${share > 0 ? '+' : ''}${share.toFixed(1)} %`;
  const seconds = `${answer.seconds[0]?.toFixed(1)} s`;
  return `| ${[...cells, gigabytes(answer.peakBytes), difference, seconds].join(' | ')} |`;
}

const [, , filter = ''] = process.argv;
try {
  process.stdout.write(
    `One LoRA GRPO step, 1 x ${tokens} tokens, rank ${benchAdapter.rank} on all linear layers, two threads\n\n`,
  );
  process.stdout.write('| Model | train.recompute | Planned | Peak | Difference | A step |\n');
  process.stdout.write('| --- | --- | --- | --- | --- | --- |\n');
  for (const one of cases.filter(({ name }) => name.includes(filter)))
    process.stdout.write(`${await rowOf(one)}\n`);
} catch (problem) {
  process.stderr.write(`${messageOf(problem)}\n`);
  process.exitCode = 1;
}
