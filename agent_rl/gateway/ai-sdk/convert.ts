import { isRecord } from '../../core/is-record.ts';

/** What the AI SDK asks a model with. */
export interface ModelCall {
  prompt: readonly { role: string; content: string | readonly PromptPart[] }[];
  tools?: readonly object[] | undefined;
  toolChoice?: { type: string; toolName?: string } | undefined;
  responseFormat?: { type: string } | undefined;
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  seed?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
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

type Mark = Record<string, Record<string, string>>;

/** A part of a turn. Its metadata names the turn, and comes back with it. */
export type ContentPart =
  | { type: 'reasoning' | 'text'; text: string; providerMetadata: Mark }
  | {
      type: 'tool-call';
      toolCallId: string;
      toolName: string;
      input: string;
      providerMetadata: Mark;
    };

/** A turn as version 3 of the AI SDK's specification has it. */
export interface Generated {
  content: ContentPart[];
  finishReason: { unified: 'stop' | 'length' | 'tool-calls'; raw: string };
  usage: {
    inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number };
    outputTokens: { total: number; text: number; reasoning: number };
  };
  warnings: [];
}

/** A piece of a turn that is streamed. */
export type StreamPart =
  | { type: 'stream-start'; warnings: [] }
  | { type: `${'text' | 'reasoning'}-${'start' | 'end'}`; id: string; providerMetadata: Mark }
  | { type: `${'text' | 'reasoning'}-delta`; id: string; delta: string; providerMetadata: Mark }
  | Extract<ContentPart, { type: 'tool-call' }>
  | ({ type: 'finish' } & Pick<Generated, 'finishReason' | 'usage'>);

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
    max_tokens: call.maxOutputTokens,
    temperature: call.temperature,
    top_p: call.topP,
    top_k: call.topK,
    seed: call.seed,
    presence_penalty: call.presencePenalty,
    frequency_penalty: call.frequencyPenalty,
    stop: call.stopSequences,
  };
}

function messagesOf({ role, content }: ModelCall['prompt'][number]): object[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool')
    return content
      .filter(({ type }) => type === 'tool-result')
      .map(({ toolCallId: tool_call_id, toolName: name, output }) => ({
        role,
        tool_call_id,
        name,
        content: resultText(output),
      }));
  if (role !== 'assistant') return [{ role, content }];
  const textOf = (kind: string): string =>
    content.map(({ type, text = '' }) => (type === kind ? text : '')).join('');
  const calls = content
    .filter(({ type }) => type === 'tool-call')
    .map(({ toolCallId: id, toolName: name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }));
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
  choices: readonly [
    {
      finish_reason: string;
      message: {
        content: string | null;
        reasoning_content?: string;
        tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
      };
    },
  ];
  usage: { prompt_tokens: number; completion_tokens: number };
}

/** The answer of chat completions as a turn. */
export function generated(answer: unknown): Generated {
  const { id, choices, usage } = answer as ChatAnswer;
  const [{ message, finish_reason: raw }] = choices;
  const providerMetadata = { [metadataKey]: { turn: id.replace(/^chatcmpl-/, '') } };
  const said = (type: 'reasoning' | 'text', text: string | null = null): ContentPart[] =>
    text === null || text === '' ? [] : [{ type, text, providerMetadata }];
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  return {
    content: [
      ...said('reasoning', message.reasoning_content),
      ...said('text', message.content),
      ...(message.tool_calls ?? []).map(({ id: toolCallId, function: called }) => ({
        type: 'tool-call' as const,
        toolCallId,
        toolName: called.name,
        input: called.arguments,
        providerMetadata,
      })),
    ],
    finishReason: {
      unified: raw === 'tool_calls' ? 'tool-calls' : raw === 'length' ? 'length' : 'stop',
      raw,
    },
    usage: {
      inputTokens: { total: prompt, noCache: prompt, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: completion, text: completion, reasoning: 0 },
    },
    warnings: [],
  };
}

/** A turn as a stream, in as few pieces as the specification allows: it is whole before it is sent. */
export const streamOf = ({ content, finishReason, usage }: Generated): ReadableStream<StreamPart> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] });
      for (const [index, part] of content.entries())
        for (const piece of piecesOf(part, String(index))) controller.enqueue(piece);
      controller.enqueue({ type: 'finish', finishReason, usage });
      controller.close();
    },
  });

function piecesOf(part: ContentPart, id: string): StreamPart[] {
  if (part.type === 'tool-call') return [part];
  const { type, text: delta, providerMetadata } = part;
  return [
    { type: `${type}-start`, id, providerMetadata },
    { type: `${type}-delta`, id, delta, providerMetadata },
    { type: `${type}-end`, id, providerMetadata },
  ];
}
