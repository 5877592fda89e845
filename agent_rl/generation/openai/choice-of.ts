import { isRecord } from '../../core/is-record.ts';

export const completionsPath = '/v1/completions';

/** The first choice of an answer. */
export function choiceOf(answer: unknown): Readonly<Record<string, unknown>> | undefined {
  const choices: unknown = isRecord(answer) ? answer['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isRecord(choice) ? choice : undefined;
}
