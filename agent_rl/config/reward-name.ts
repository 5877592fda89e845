import type { Config } from './config-schema.ts';

type RewardBlock = Config['rewards'][number];

/** The name of a reward in records and metrics. */
export const rewardName = ({ name, tool, type }: RewardBlock): string =>
  name ?? (tool === undefined ? type : `${tool}/${type}`);
