import { type Static, Type } from '../core/typebox.ts';
import { costs, costLimit } from '../config/blocks/block.ts';
import { type EpisodeView, reward } from '../core/plugins/reward.ts';

const Settings = Type.Object({
  tools: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    default: ['search', 'open_page'],
    description: 'Names of the tools with a cost',
  }),
  perCall: costs('Cost of each call', 0.02),
  perThousandCharacters: costs('Cost per 1,000 characters of results', 0),
  maxCost: costLimit('Maximum cost'),
});

/** Minus the cost of an episode's searches: per call and by length of the results. */
export const searchCost = reward({
  name: 'search_cost',
  description:
    'Cost of searches: an amount per call, plus an amount per 1,000 characters of results',
  settings: Settings,
  blind: true,
})((
  { turns }: EpisodeView,
  { tools, perCall, perThousandCharacters, maxCost }: Static<typeof Settings>,
): number => {
  const searches = turns
    .flatMap(({ calls }) => calls)
    .filter(({ call, status }) => status !== 'rejected' && tools.includes(call.name));
  const characters = searches.reduce((sum, { result }) => sum + result.content.length, 0);
  const cost = searches.length * perCall + (characters / 1000) * perThousandCharacters;
  return cost === 0 ? 0 : -Math.min(maxCost, cost);
});
