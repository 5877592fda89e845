import { isRecord } from '../../core/is-record.ts';

/** By the fields of a request, settings of a call that are the same there. */
const numbers = {
  max_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
} as const;
type Numbers = (typeof numbers)[keyof typeof numbers];

/** The options with which the AI SDK calls a model. */
export interface ModelCall extends Partial<Record<Numbers, number | undefined>> {
  prompt: readonly { role: string; content: string | readonly PromptPart[] }[];
  tools?: readonly object[] | undefined;
  toolChoice?: { type: string; toolName?: string } | undefined;
  responseFormat?: { type: string } | undefined;
  stopSequences?: readonly string[] | undefined;
  abortSignal?: AbortSignal | undefined;
}

interface PromptPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: string };
  readonly providerOptions?: unknown;
}

/** Of the metadata of parts of a turn, which name it and come back with it. */
const metadataKey = 'agent_rl';

/** A call of the AI SDK as a request of chat completions. What is not text is sent on, and refused as such. */
export function chatBody(call: ModelCall): object {
  const { toolChoice, responseFormat } = call;
  const named = { type: 'function', function: { name: toolChoice?.toolName } };
  return {
    messages: call.prompt.flatMap(messagesOf),
    tools: call.tools?.map((tool) => {
      const { name, description, inputSchema } = tool as Readonly<Record<string, unknown>>;
      return { type: 'function', function: { name, description, parameters: inputSchema } };
    }),
    tool_choice: toolChoice?.type === 'tool' ? named : toolChoice?.type,
    response_format: responseFormat?.type === 'json' ? { type: 'json_object' } : undefined,
    ...Object.fromEntries(Object.entries(numbers).map(([field, name]) => [field, call[name]])),
    stop: call.stopSequences,
  };
}

function messagesOf({ role, content }: ModelCall['prompt'][number]): object[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool')
    return content
      .filter(({ type }) => type === 'tool-result')
      .map(({ toolCallId: tool_call_id, toolName: name, output }) => {
        return { role, tool_call_id, name, content: resultText(output) };
      });
  if (role !== 'assistant') return [{ role, content }];
  const textOf = (kind: string): string =>
    content.map(({ type, text = '' }) => (type === kind ? text : '')).join('');
  const calls = content
    .filter(({ type }) => type === 'tool-call')
    .map(({ toolCallId: id, toolName: name, input }) => {
      return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
    });
  return [
    {
      role,
      content: textOf('text'),
      reasoning_content: textOf('reasoning') || undefined,
      agent_rl_turn: content.map(turnOf).find((turn) => turn !== undefined),
      tool_calls: calls.length === 0 ? undefined : calls,
    },
  ];
}

function turnOf({ providerOptions }: PromptPart): unknown {
  const own = isRecord(providerOptions) ? providerOptions[metadataKey] : undefined;
  return isRecord(own) ? own['turn'] : undefined;
}

/** What a tool answered, as text: the AI SDK's own clients send the same. */
function resultText({ type, value, reason }: PromptPart['output'] = { type: 'text' }): string {
  if (type === 'execution-denied') return reason ?? 'Tool execution denied.';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

interface ChatAnswer {
  id: string;
  choices: readonly [{ finish_reason: string; message: ChatMessage }];
  usage: { prompt_tokens: number; completion_tokens: number };
}

interface ChatMessage {
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
}

/** A turn as version 3 of the AI SDK's specification has it. */
export type Generated = ReturnType<typeof generated>;

/** The answer of chat completions as a turn. */
export function generated(answer: unknown) {
  const { id, choices, usage } = answer as ChatAnswer;
  const [{ message, finish_reason: raw }] = choices;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const providerMetadata = { [metadataKey]: { turn: id.replace(/^chatcmpl-/, '') } };
  const said = (type: 'reasoning' | 'text', text: string | null = null) =>
    text === null || text === '' ? [] : [{ type, text, providerMetadata }];
  const calls = (message.tool_calls ?? []).map(({ id: toolCallId, function: called }) => ({
    type: 'tool-call' as const,
    toolCallId,
    toolName: called.name,
    input: called.arguments,
    providerMetadata,
  }));
  const unified: 'stop' | 'length' | 'tool-calls' =
    raw === 'tool_calls' ? 'tool-calls' : raw === 'length' ? 'length' : 'stop';
  return {
    content: [
      ...said('reasoning', message.reasoning_content),
      ...said('text', message.content),
      ...calls,
    ],
    finishReason: { unified, raw },
    usage: {
      inputTokens: { total: prompt, noCache: prompt, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: completion, text: completion, reasoning: 0 },
    },
    warnings: [],
  };
}

export type StreamPart = ReturnType<typeof piecesOf> extends Generator<infer Part> ? Part : never;

/** A turn as a stream, in as few pieces as the specification allows: it is whole before it is sent. */
export const streamOf = (turn: Generated): ReadableStream<StreamPart> =>
  ReadableStream.from(piecesOf(turn));

function* piecesOf({ content, finishReason, usage, warnings }: Generated) {
  yield { type: 'stream-start' as const, warnings };
  for (const [index, part] of content.entries()) {
    if (part.type === 'tool-call') yield part;
    else {
      const { type, text: delta, providerMetadata } = part;
      const own = { id: String(index), providerMetadata };
      yield { type: `${type}-start` as const, ...own };
      yield { type: `${type}-delta` as const, delta, ...own };
      yield { type: `${type}-end` as const, ...own };
    }
  }
  yield { type: 'finish' as const, finishReason, usage };
}
