import { messageRow } from '../../../dataset/demonstrations/conversations.ts';
import type { Continuation } from './continue-rows.ts';
import { float32Numbers } from './float32-numbers.ts';
import type { ModelTexts } from './model-texts.ts';

/**
 * What came of one sample, as it is written: its token ids, their text without the token that ended it, and of a
 * conversation also the prompt as ids and the assistant's message.
 *
 * @param file names the place of a log-probability that is not a number
 */
export function continuationLine(
  { line, row, sample, tokens, logProbs, stop, message }: Continuation,
  { tokenizer }: Pick<ModelTexts, 'tokenizer'>,
  file: string,
): object {
  const shown = stop === 'stop-token' ? tokens.slice(0, -1) : tokens;
  return {
    ...(row.id !== undefined && { id: row.id }),
    sample,
    ids: tokens,
    text: tokenizer === undefined ? null : tokenizer.decode(shown),
    logprobs: float32Numbers(logProbs, `${file}:${line}`),
    stop,
    ...(message !== undefined && {
      prompt_ids: row.ids,
      message: {
        ...messageRow(message),
        ...(message.malformedCalls !== undefined && {
          malformed_calls: message.malformedCalls.map(({ text, problem }) => ({ text, problem })),
        }),
      },
    }),
  };
}
