import { benchAdapter, type Shape } from './shape.ts';
import type { Packed } from '../../../agent_rl/generation/programs/decoder-programs.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { parameterCount } from '../../../model/config/parameters.ts';

/** What is timed, in a process of its own so that its peak of memory is its own. */
export type Task =
  | { kind: 'lora-step'; tokens: number; recompute: 'none' | 'blocks' }
  | {
      /** A LoRA step on sequences with a common prefix; the prefix is not trained. */
      kind: 'lora-group';
      sequences: number;
      tokens: number;
      common: number;
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

export const taskKinds = [
  'lora-step',
  'lora-group',
  'prefill',
  'decode',
] as const satisfies Task['kind'][];

export interface Contestant {
  name: string;
  /** Our model, with its adapter and quantisation where the row has them; PyTorch gets the sizes alone. */
  config: ModelConfig;
  /** Ours: what sequences have in common is computed for each of them. */
  apart?: boolean;
  /** Ours: what the program of steps holds. */
  packs?: Packed;
  /** How PyTorch does it; absent for ours. */
  peer?: { attention: 'sdpa' | 'eager'; cache?: 'dynamic' | 'static' };
}

/** One task and all who do it. The first contestant is ours in float32. */
export interface Group {
  title: string;
  task: Task;
  /** Tokens of one timed call. */
  tokens: number;
  contestants: readonly Contestant[];
}

/** Every row of the table. */
export function groupsOf(shape: Shape): Group[] {
  const { config, quantization, trainTokens, promptTokens } = shape;
  const adapters = [benchAdapter];
  const training: Contestant[] = [
    { name: 'ours', config: { ...config, adapters } },
    { name: 'ours, 4-bit base', config: { ...config, adapters, quantization } },
  ];
  const generating: Contestant[] = [
    { name: 'ours', config },
    { name: 'ours, 4-bit', config: { ...config, quantization } },
  ];
  const packed: Contestant = { name: 'ours, weights packed', config, packs: 'all' };
  const sdpa: Contestant = { name: 'PyTorch, sdpa', config, peer: { attention: 'sdpa' } };
  const eager: Contestant = { name: 'PyTorch, eager', config, peer: { attention: 'eager' } };
  const cached = (['dynamic', 'static'] as const).map((cache): Contestant => ({
    name: `PyTorch, sdpa, ${cache} cache`,
    config,
    peer: { attention: 'sdpa', cache },
  }));
  const step = `LoRA GRPO step, 1 x ${trainTokens} tokens`;
  return [
    {
      title: `${step}, layers kept`,
      task: { kind: 'lora-step', tokens: trainTokens, recompute: 'none' },
      tokens: trainTokens,
      contestants: [...training, sdpa, eager],
    },
    {
      title: `${step}, layers recomputed`,
      task: { kind: 'lora-step', tokens: trainTokens, recompute: 'blocks' },
      tokens: trainTokens,
      contestants: [...training, sdpa],
    },
    ...shape.groups.map((group): Group => ({
      title: `LoRA GRPO step, ${group.sequences} x ${group.tokens} tokens, the first ${group.common} in common (${sharedShare(group)}), layers recomputed`,
      task: { kind: 'lora-group', ...group },
      tokens: group.sequences * group.tokens,
      contestants: [
        { name: 'ours', config: { ...config, adapters } },
        { name: 'ours, each sequence apart', config: { ...config, adapters }, apart: true },
        sdpa,
      ],
    })),
    {
      title: `Prefill, ${promptTokens} tokens`,
      task: { kind: 'prefill', tokens: promptTokens },
      tokens: promptTokens,
      contestants: [...generating, sdpa],
    },
    ...shape.decodeRows.map((rows): Group => ({
      title: `Decode step, ${rows} rows of ${promptTokens} tokens that all differ`,
      task: { kind: 'decode', rows, cached: promptTokens, steps: shape.decodeSteps },
      tokens: rows * shape.decodeSteps,
      contestants: [...generating, packed, ...cached],
    })),
  ];
}

/** The share of a group's tokens that an earlier sequence has too: what computing a beginning once can save. */
const sharedShare = ({ sequences, tokens, common }: Shape['groups'][number]): string =>
  `${Math.round((100 * (sequences - 1) * common) / (sequences * tokens))} % shared`;

/** One LoRA step of a group, where one of its sizes grows and the others stay: what is divided by are tokens that differ. */
export function growthOf(models: readonly ModelConfig[]): Group[] {
  const [middle] = models;
  const base = { sequences: 8, prompt: 128, turn: 128, config: middle! };
  const grown = [
    ...[4, 8, 16, 32].map((sequences) => ({ sequences })),
    ...[512, 1024, 2048].map((prompt) => ({ prompt })),
    ...[256, 512, 1024].map((turn) => ({ turn })),
    ...models.slice(1).map((config) => ({ config })),
  ];
  return grown.map((other): Group => {
    const { sequences, prompt, turn, config } = { ...base, ...other };
    return {
      title: `${(parameterCount(config) / 1e6).toFixed(1)} M, group of ${sequences}, prompt of ${prompt}, turns of ${turn}`,
      task: { kind: 'lora-group', sequences, tokens: prompt + turn, common: prompt },
      tokens: prompt + sequences * turn,
      contestants: [{ name: 'ours', config: { ...config, adapters: [benchAdapter] } }],
    };
  });
}

/** What a process of its own is to do. */
export interface RowOrder extends Contestant {
  task: Task;
  device: string;
  threads: number;
  /** Calls that are not timed, and those that are. */
  warmUp: number;
  repeats: number;
}

/** What it answers. */
export interface RowAnswer {
  /** Wall clock of each timed call. */
  seconds: readonly number[];
  peakBytes: number;
  /** Loss of the last training step. */
  loss?: number;
  /** Versions of the peer's libraries. */
  versions?: string;
}
