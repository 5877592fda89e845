import { Type, type Static } from 'typebox';

import { costs, integer, most, within } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';

const Settings = Type.Object({
  freeTurns: integer('Turns that cost nothing', {
    ...within(1, most.count, 1),
    idleWith: { perTurn: 0 },
  }),
  perTurn: costs('Cost of each further turn', 0.1),
});

/** Minus a cost for each turn beyond the free ones, and only where the task was solved: giving up early pays nothing. */
export const brevity = reward({
  name: 'brevity',
  description: 'Costs a solved task something for each turn beyond the free ones',
  settings: Settings,
})(({ turns, verdict }: EpisodeView, { freeTurns, perTurn }: Static<typeof Settings>) =>
  verdict.success ? -perTurn * Math.max(0, turns.length - freeTurns) : undefined,
);
