import type { GenerationRequest } from '../../core/services/generator.ts';
import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';
import type { UnusableAnswer } from './server-failures.ts';
import type { Asked, Scored } from './server-protocol.ts';

/** How tokens are to be drawn, in the words that vLLM has on all of its routes. */
export const samplingFields = (
  { stopTokens, sampling }: Pick<GenerationRequest, 'stopTokens' | 'sampling'>,
  { seed, maxTokens }: Pick<Asked, 'seed' | 'maxTokens'>,
) => ({
  max_tokens: maxTokens,
  // What ends a turn is among the stop tokens; the model's own end of text is where it is one.
  ignore_eos: true,
  stop_token_ids: stopTokens,
  temperature: sampling.temperature,
  top_k: sampling.topK,
  top_p: sampling.topP,
  min_p: sampling.minP,
  // A model's generation_config.json may ask for others.
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  seed,
});

/** The first choice of an answer. */
export function choiceOf(answer: unknown): Readonly<Record<string, unknown>> | undefined {
  const choices: unknown = isRecord(answer) ? answer['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isRecord(choice) ? choice : undefined;
}

/** vLLM's `prompt_logprobs`: in each place the token there and the likeliest ones, by their ids; undefined without it. */
export const promptPlaces = (given: unknown): Scored['places'] | undefined =>
  Array.isArray(given)
    ? given.map((listed: unknown) =>
        isRecord(listed)
          ? new Map(
              Object.entries(listed).map(([token, said]) => [
                Number(token),
                isRecord(said) ? said['logprob'] : undefined,
              ]),
            )
          : undefined,
      )
    : undefined;

const ends = ['stop', 'length', 'abort'] as const;

/** @throws what `unusable` makes of an unknown reason */
export function finishReason(
  reason: unknown,
  unusable: (problem: string) => UnusableAnswer,
): (typeof ends)[number] {
  const end = ends.find((one) => one === reason);
  if (end !== undefined) return end;
  throw unusable(`finish_reason is ${showValue(reason)}; expected one of ${ends.join(', ')}`);
}
