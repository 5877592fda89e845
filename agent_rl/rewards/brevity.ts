import { Type, type Static } from 'typebox';

import { type EpisodeView, reward } from '../core/plugins/reward.ts';

const Settings = Type.Object({
  freeTurns: Type.Integer({ minimum: 1, default: 1, description: 'Turns that cost nothing' }),
  perTurn: Type.Number({ minimum: 0, default: 0.1, description: 'Cost of each further turn' }),
});

/** Minus a cost for each turn beyond the free ones, and only where the task was solved: giving up early pays nothing. */
export const brevity = reward({
  name: 'brevity',
  description: 'Costs a solved task something for each turn beyond the free ones',
  settings: Settings,
})(({ turns, verdict }: EpisodeView, { freeTurns, perTurn }: Static<typeof Settings>) =>
  verdict.success ? -perTurn * Math.max(0, turns.length - freeTurns) : undefined,
);
