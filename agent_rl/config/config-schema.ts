import { Type, type Static } from '../core/typebox.ts';
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
import { PoliciesBlock } from './blocks/policies-block.ts';
import { PolicyBlock } from './blocks/policy-block.ts';
import { AsyncBlock, RolloutBlock } from './blocks/rollout-block.ts';
import { JournalBlock, RunBlock, SandboxBlock } from './blocks/run-block.ts';

/** A run file. */
export const ConfigSchema = Type.Object(
  {
    run: RunBlock,
    model: ModelBlock,
    policy: PolicyBlock,
    generator: partBlock('a generator', 'engine', 'Samples tokens for rollouts and evaluations'),
    learner: partBlock('a learner', 'engine', 'Computes gradients and updates the weights'),
    policies: PoliciesBlock,
    tools: ToolsBlock,
    environment: EnvironmentsBlock,
    agents: AgentsBlock,
    gateway: GatewayBlock,
    datasets: DatasetsBlock,
    dataset: DatasetBlock,
    rollout: RolloutBlock,
    async: AsyncBlock,
    rewards: RewardsBlock,
    rewardManager: partBlock(
      'a reward manager',
      'weighted',
      'Combines the rewards of each episode into one value, by which the episodes of a group are compared',
    ),
    algorithm: AlgorithmBlock,
    train: TrainBlock,
    eval: EvalBlock,
    checkpoint: CheckpointBlock,
    journal: JournalBlock,
    sandbox: SandboxBlock,
    trackers: TrackersBlock,
    plugins: PluginsBlock,
  },
  { additionalProperties: false },
);

/** The JSON Schema fields of a setting. */
export interface SettingSchema {
  type?: string | readonly string[];
  default?: unknown;
  properties?: Readonly<Record<string, SettingSchema>>;
  items?: SettingSchema;
  /** Of a block whose keys are names: its only pattern, and the schema of each value. */
  patternProperties?: Readonly<Record<string, SettingSchema>>;
}

/** The schema of the value under these keys; `*` or a number is an item of a list. */
export const schemaAt = (keys: readonly string[]): SettingSchema | undefined =>
  keys.reduce<SettingSchema | undefined>(
    (schema, key) =>
      schema?.properties?.[key] ??
      schema?.items ??
      Object.values(schema?.patternProperties ?? {})[0],
    ConfigSchema as SettingSchema,
  );

/** Whether a block only holds a plugin: its name as `type`, and the plugin's settings. */
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

/** How tokens are sampled in training and in chat. */
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

/** Iterations to run, and iterations planned. */
export interface RunLength {
  last: number;
  planned: number;
}

/**
 * The last iteration to run, and the length of the learning-rate schedule: a run stopped by `train.maxIterations` keeps
 * the schedule of `train.iterations`, so that it can be resumed.
 */
export function runLength({ train }: Pick<Config, 'train'>): RunLength {
  const last = train.maxIterations ?? train.iterations;
  return { last, planned: Math.max(last, train.iterations) };
}
