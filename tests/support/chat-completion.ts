/** An answer of `POST /v1/chat/completions` with every field that vLLM 0.32 gives one. */
export const chatCompletion = (
  content: string | null,
  { finishReason = 'stop', prompt = 181, completion = 23 } = {},
) => ({
  id: 'chatcmpl-8f1d7c2b5e0a4a6f',
  object: 'chat.completion',
  created: 1_795_411_200,
  model: 'judge',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        tool_calls: [],
        reasoning: null,
      },
      logprobs: null,
      finish_reason: finishReason,
      stop_reason: null,
      token_ids: null,
    },
  ],
  service_tier: null,
  system_fingerprint: null,
  usage: {
    prompt_tokens: prompt,
    total_tokens: prompt + completion,
    completion_tokens: completion,
    prompt_tokens_details: null,
  },
  prompt_logprobs: null,
  prompt_token_ids: null,
  kv_transfer_params: null,
});
