import { type EpisodeView, reward, Type } from 'agent_rl/plugin';

/**
 * A small price on every call after the first, so that the agent learns not to ask twice. Only a right answer pays it: a
 * price on wrong answers would reward an agent that is seldom right for not calling the tool at all.
 */
export const extraCalls = reward({
  name: 'extra_calls',
  description: 'Takes off a little for each call after the first, of right answers.',
  settings: Type.Object(
    { perCall: Type.Number({ default: 0.1, minimum: 0, maximum: 100 }) },
    { additionalProperties: false },
  ),
})(({ turns, verdict }: EpisodeView, { perCall }: { perCall: number }) => {
  if (!verdict.success) return 0;
  const calls = turns.flatMap((turn) => turn.calls).length;
  return calls > 1 ? -perCall * (calls - 1) : 0;
});
