import { benchAdapter, type Shape } from './shape.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';

/** What is timed, in a process of its own so that its peak of memory is its own. */
export type Task =
  | {
      kind: 'lora-step';
      tokens: number;
      recompute: 'none' | 'blocks';
    }
  | { kind: 'prefill'; tokens: number }
  | {
      kind: 'decode';
      rows: number;
      /** Positions in each row's cache before the first step. */
      cached: number;
      /** Timed together. */
      steps: number;
    };

export const taskKinds = ['lora-step', 'prefill', 'decode'] as const satisfies Task['kind'][];

/** How PyTorch does a task. */
export interface PeerVariant {
  attention: 'sdpa' | 'eager';
  cache?: 'dynamic' | 'static';
}

export interface Contestant {
  name: string;
  /** Our model, with its adapter and quantisation where the row has them; PyTorch gets the sizes alone. */
  config: ModelConfig;
  /** Absent for ours. */
  peer?: PeerVariant;
}

/** One task and all who do it. The first contestant is ours in float32. */
export interface Group {
  title: string;
  task: Task;
  /** Of one timed call. */
  tokens: number;
  contestants: readonly Contestant[];
}

/** Every row of the table. */
export function groupsOf(shape: Shape): readonly Group[] {
  return [...trainGroups(shape), prefillGroup(shape), ...decodeGroups(shape)];
}

function trainGroups({ config, quantization, trainTokens: tokens }: Shape): Group[] {
  const adapters = [benchAdapter];
  const step = `LoRA GRPO step, 1 x ${tokens} tokens`;
  const ours: Contestant[] = [
    { name: 'ours', config: { ...config, adapters } },
    { name: 'ours, 4-bit base', config: { ...config, adapters, quantization } },
  ];
  const sdpa: Contestant = { name: 'PyTorch, sdpa', config, peer: { attention: 'sdpa' } };
  const eager: Contestant = { name: 'PyTorch, eager', config, peer: { attention: 'eager' } };
  return [
    {
      title: `${step}, layers kept`,
      task: { kind: 'lora-step', tokens, recompute: 'none' },
      tokens,
      contestants: [...ours, sdpa, eager],
    },
    {
      title: `${step}, layers recomputed`,
      task: { kind: 'lora-step', tokens, recompute: 'blocks' },
      tokens,
      contestants: [...ours, sdpa],
    },
  ];
}

const generating = ({ config, quantization }: Shape): Contestant[] => [
  { name: 'ours', config },
  { name: 'ours, 4-bit', config: { ...config, quantization } },
];

function prefillGroup(shape: Shape): Group {
  const { config, promptTokens: tokens } = shape;
  return {
    title: `Prefill, ${tokens} tokens`,
    task: { kind: 'prefill', tokens },
    tokens,
    contestants: [
      ...generating(shape),
      { name: 'PyTorch, sdpa', config, peer: { attention: 'sdpa' } },
    ],
  };
}

function decodeGroups(shape: Shape): Group[] {
  const { config, promptTokens: cached, decodeRows, decodeSteps: steps } = shape;
  const peers = (['dynamic', 'static'] as const).map((cache): Contestant => ({
    name: `PyTorch, sdpa, ${cache} cache`,
    config,
    peer: { attention: 'sdpa', cache },
  }));
  return decodeRows.map((rows) => ({
    title: `Decode step, ${rows} rows of ${cached} tokens`,
    task: { kind: 'decode', rows, cached, steps },
    tokens: rows * steps,
    contestants: [...generating(shape), ...peers],
  }));
}

/** Timed calls of one process. */
export interface Timing {
  warmUp: number;
  repeats: number;
  threads: number;
}

/** What a process of its own is told. */
export interface RowOrder extends Timing, Contestant {
  task: Task;
}

/** What it answers. */
export interface RowAnswer {
  /** Wall clock of each timed call. */
  seconds: readonly number[];
  peakBytes: number;
  /** Of a training step, the last. */
  loss?: number;
  /** Of the peer's libraries. */
  versions?: string;
}
