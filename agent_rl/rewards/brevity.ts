import { Type, type Static } from 'typebox';

import { integer, number } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';

const Settings = Type.Object({
  freeTurns: integer('Turns that cost nothing', { minimum: 1, default: 1 }),
  perTurn: number('Cost of each further turn', { minimum: 0, default: 0.1 }),
});

/** Minus a cost for each turn beyond the free ones, and only where the task was solved: giving up early pays nothing. */
export const brevity = reward({
  name: 'brevity',
  description: 'Costs a solved task something for each turn beyond the free ones',
  settings: Settings,
})(({ turns, verdict }: EpisodeView, { freeTurns, perTurn }: Static<typeof Settings>) =>
  verdict.success ? -perTurn * Math.max(0, turns.length - freeTurns) : undefined,
);
