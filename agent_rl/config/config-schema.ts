import { Type, type Static } from 'typebox';

import type { Sampling } from '../core/services/generator.ts';
import { AlgorithmBlock } from './blocks/algorithm-block.ts';
import { CheckpointBlock, TrainBlock, EvalBlock } from './blocks/train-block.ts';
import { DatasetBlock, DatasetsBlock } from './blocks/dataset-block.ts';
import { GatewayBlock } from './blocks/gateway-block.ts';
import { ModelBlock } from './blocks/model-block.ts';
import {
  AgentsBlock,
  EnvironmentsBlock,
  partBlock,
  PluginsBlock,
  RewardsBlock,
  ToolsBlock,
  TrackersBlock,
} from './blocks/plugin-blocks.ts';
import { PolicyBlock } from './blocks/policy-block.ts';
import { RolloutBlock } from './blocks/rollout-block.ts';
import { RunBlock, SandboxBlock } from './blocks/run-block.ts';

/** A run file. */
export const ConfigSchema = Type.Object(
  {
    run: RunBlock,
    model: ModelBlock,
    policy: PolicyBlock,
    generator: partBlock('a generator', 'engine', 'What samples tokens, and its settings'),
    learner: partBlock(
      'a learner',
      'engine',
      'What computes gradients and changes the weights, and its settings',
    ),
    tools: ToolsBlock,
    environment: EnvironmentsBlock,
    agents: AgentsBlock,
    gateway: GatewayBlock,
    datasets: DatasetsBlock,
    dataset: DatasetBlock,
    rollout: RolloutBlock,
    rewards: RewardsBlock,
    rewardManager: partBlock(
      'a reward manager',
      'weighted',
      'What the episodes of a group are compared by: their rewards by weights, by how they spread in the group, or by rank',
    ),
    algorithm: AlgorithmBlock,
    train: TrainBlock,
    eval: EvalBlock,
    checkpoint: CheckpointBlock,
    sandbox: SandboxBlock,
    trackers: TrackersBlock,
    plugins: PluginsBlock,
  },
  { additionalProperties: false },
);

/** What a JSON Schema says of a setting. */
export interface SettingSchema {
  type?: string | readonly string[];
  default?: unknown;
  properties?: Readonly<Record<string, SettingSchema>>;
  items?: SettingSchema;
}

/** The schema of what the run file has under these keys, of which `*` or a number is an item of a list. */
export const schemaAt = (keys: readonly string[]): SettingSchema | undefined =>
  keys.reduce<SettingSchema | undefined>(
    (schema, key) => schema?.properties?.[key] ?? schema?.items,
    ConfigSchema as SettingSchema,
  );

/** Whether a block holds nothing but a plugin: its name as `type`, and beside it the plugin's settings. */
export const isPluginBlock = (keys: readonly string[]): boolean =>
  Object.keys(schemaAt(keys)?.properties ?? {}).join() === 'type';

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** A run file as read: every default filled in, frozen. */
export type Config = Frozen<Static<typeof ConfigSchema>>;

/** The name of a reward in records and metrics. */
export const rewardName = ({
  name,
  tool,
  type,
}: {
  type: string;
  name?: string | undefined;
  tool?: string | undefined;
}): string => name ?? (tool === undefined ? type : `${tool}/${type}`);

/** How tokens are drawn in training and in chat. */
export function samplingOf({ policy }: Pick<Config, 'policy'>): Sampling {
  const { temperature, topK, topP, minP } = policy.sampling;
  return { temperature, topK, topP, minP };
}

/** How held-out tasks are attempted: `greedy` is one attempt at temperature 0. */
export const attemptsOf = ({
  samples,
  temperature,
  strategy,
}: Pick<Config['eval'], 'samples' | 'temperature' | 'strategy'>): {
  samples: number;
  temperature: number;
} => (strategy === 'greedy' ? { samples: 1, temperature: 0 } : { samples, temperature });

/** In iterations; how many are run, and how many are planned. */
export interface RunLength {
  last: number;
  planned: number;
}

/**
 * The last iteration that is run, and the length that the learning-rate schedule is for: a run stopped by
 * `train.maxIterations` keeps the schedule of `train.iterations`, so that it can be resumed.
 */
export function runLength({ train }: Pick<Config, 'train'>): RunLength {
  const last = train.maxIterations ?? train.iterations;
  return { last, planned: Math.max(last, train.iterations) };
}
