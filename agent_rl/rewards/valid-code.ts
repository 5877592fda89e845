import { type EpisodeView, reward } from '../core/plugins/reward.ts';
import type { RunResult } from '../core/services/sandbox.ts';

const codeTool = 'code_exec';

/**
 * Share of the programs passed to `code_exec` that ran to their end, without a syntax error, an exception or a timeout.
 * Their output and tests do not matter. 0 without a program.
 */
export const validCode = reward({
  name: 'valid_code',
  description:
    'Share of code_exec programs that ran without an error or timeout; 0 if the episode ran none',
  blind: true,
})(({ turns }: EpisodeView): number => {
  const calls = turns.flatMap((turn) => turn.calls).filter(({ call }) => call.name === codeTool);
  const ended = calls.filter(
    ({ result }) => (result.data as Partial<RunResult> | undefined)?.status === 'ok',
  );
  return ended.length / Math.max(1, calls.length);
});
