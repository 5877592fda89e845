import { Type, type Static } from 'typebox';

import { isRecord } from '../core/is-record.ts';
import type { Sampling } from '../core/services/generator.ts';
import { AlgorithmBlock } from './blocks/algorithm-block.ts';
import { CheckpointBlock, TrainBlock, EvalBlock } from './blocks/train-block.ts';
import { DatasetBlock, DatasetsBlock } from './blocks/dataset-block.ts';
import { ModelBlock } from './blocks/model-block.ts';
import {
  AgentsBlock,
  EnvironmentsBlock,
  GeneratorBlock,
  LearnerBlock,
  PluginsBlock,
  RewardManagerBlock,
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
    generator: GeneratorBlock,
    learner: LearnerBlock,
    tools: ToolsBlock,
    environment: EnvironmentsBlock,
    agents: AgentsBlock,
    datasets: DatasetsBlock,
    dataset: DatasetBlock,
    rollout: RolloutBlock,
    rewards: RewardsBlock,
    rewardManager: RewardManagerBlock,
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

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** A run file as read: every default filled in, frozen. */
export type Config = Frozen<Static<typeof ConfigSchema>>;

/** The blocks of the environments that a config names, each with its dotted path. */
export function environmentBlocks({ environment }: Pick<Config, 'environment'>) {
  const pathOf = (index: number): string =>
    Array.isArray(environment) ? `environment.${index}` : 'environment';
  const blocks = [environment].flat().map((value, index) => ({ path: pathOf(index), value }));
  // In a config with problems something else may stand there.
  return blocks.filter(({ value }) => isRecord(value));
}

/** The name of a reward in records and metrics. */
export const rewardName = ({ name, tool, type }: Config['rewards'][number]): string =>
  name ?? (tool === undefined ? type : `${tool}/${type}`);

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
