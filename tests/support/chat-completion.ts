import { readFixture } from './exchanges.ts';

interface Completion {
  choices: [{ message: { content: string | null }; finish_reason: string }];
  usage: object;
}

/** An answer of `POST /v1/chat/completions` with every field that vLLM 0.32 gives one. */
export function chatCompletion(
  content: string | null,
  { finishReason = 'stop', prompt = 181, completion = 23 } = {},
) {
  const answer = readFixture('vllm/chat-completion.json') as Completion;
  const [choice] = answer.choices;
  Object.assign(choice.message, { content });
  choice.finish_reason = finishReason;
  const usage = { prompt_tokens: prompt, completion_tokens: completion };
  Object.assign(answer.usage, usage, { total_tokens: prompt + completion });
  return answer;
}
