import { Type, type Static } from '../core/typebox.ts';
import { costs, integer, most, within } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';

const Settings = Type.Object({
  freeTurns: integer('Number of turns that cost nothing', {
    ...within(1, most.count, 1),
    idleWith: { perTurn: 0 },
  }),
  perTurn: costs('Cost of each further turn', 0.1),
});

/** Minus a cost for each turn beyond the free ones, only in solved tasks: giving up early does not pay. */
export const brevity = reward({
  name: 'brevity',
  description: 'Cost of each turn beyond the free ones, in solved tasks',
  settings: Settings,
})(({ turns, verdict }: EpisodeView, { freeTurns, perTurn }: Static<typeof Settings>) =>
  verdict.success ? -perTurn * Math.max(0, turns.length - freeTurns) : undefined,
);
