import { ends, markers } from './reward-hacks/forgeries.ts';
import { friendly } from './reward-hacks/friendly-values.ts';
import { mischief, patches, searches } from './reward-hacks/interference.ts';
import type { RewardHack } from './reward-hacks/reward-hack.ts';

export { honestSolutions } from './reward-hacks/hacked-tasks.ts';
export type { HackedTask, JudgedBy } from './reward-hacks/hacked-tasks.ts';
export type { RewardHack } from './reward-hacks/reward-hack.ts';

/** Hacks that are known to have fooled a judge, and hacks made against this one. */
const all = [ends, markers, friendly, mischief, searches, patches];
export const rewardHacks: readonly RewardHack[] = all.flat();
