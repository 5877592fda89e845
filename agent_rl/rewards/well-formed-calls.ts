import { type EpisodeView, reward } from '../core/plugins/reward.ts';

/**
 * Share of the policy's calls that were well formed, with a known tool and valid arguments; does not apply to an
 * episode without calls.
 */
export const wellFormedCalls = reward({
  name: 'well_formed_calls',
  description: 'Share of calls that were well formed, with a known tool and valid arguments',
  blind: true,
})(({ turns }: EpisodeView): number | undefined => {
  const calls = turns.flatMap((turn) => turn.calls);
  const malformed = turns.reduce(
    (sum, { message }) => sum + (message.malformedCalls?.length ?? 0),
    0,
  );
  const written = calls.length + malformed;
  if (written === 0) return undefined;
  return calls.filter(({ status }) => status !== 'rejected').length / written;
});
