import { captured, comparableBy, type Exchange, exchanged } from '../exchanges.ts';

export type ServerKind = 'vllm' | 'llama-cpp';

/** Of SmolLM2's vocabulary: the first bytes of a character, and no more. */
export const halfCharacter = 162;

export const capturedOpenai = (kind: ServerKind) => captured(`openai/${kind}.json`);

export const askOpenai = (kind: ServerKind, url: string) =>
  exchanged(url, capturedOpenai(kind).exchanges);

/** What means something to the generator counts; the rest may be another value of its kind. */
const kinds = comparableBy(
  'finish_reason stop_reason stop_type status max_model_len n_ctx parent code type prompt_tokens completion_tokens tokens_evaluated',
);

export const comparable = (exchanges: readonly Exchange[]) =>
  kinds(
    exchanges.map((one) => {
      // Which tokens are the likeliest differs too.
      const text = JSON.stringify(one.answer).replaceAll(/"token_id:\d+":/g, '"token_id":');
      return { ...one, answer: JSON.parse(text) as unknown };
    }),
  );
