import { metadataKey } from './chat-body.ts';

interface Marked {
  providerMetadata: Record<string, Record<string, string>>;
}

/** What a turn is made of. */
export type ContentPart =
  | ({ type: 'reasoning' | 'text'; text: string } & Marked)
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; input: string } & Marked);

interface Finish {
  unified: 'stop' | 'length' | 'tool-calls';
  raw: string;
}

interface Usage {
  inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number };
  outputTokens: { total: number; text: number; reasoning: number };
}

/** A turn as the AI SDK's specification has it. */
export interface Generated {
  content: ContentPart[];
  finishReason: Finish;
  usage: Usage;
  warnings: [];
}

/** A piece of a turn that is streamed. */
export type StreamPart =
  | { type: 'stream-start'; warnings: [] }
  | ({ type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string } & Marked)
  | ({ type: 'text-delta' | 'reasoning-delta'; id: string; delta: string } & Marked)
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | Extract<ContentPart, { type: 'tool-call' }>
  | { type: 'finish'; finishReason: Finish; usage: Usage };

interface ChatAnswer {
  id: string;
  choices: readonly {
    finish_reason: string;
    message: {
      content: string | null;
      reasoning_content?: string;
      tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
    };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}

/** The answer of chat completions as a turn, each part of which names it. */
export function generated(answer: unknown): Generated {
  const { id, choices, usage } = answer as ChatAnswer;
  const [{ message, finish_reason: raw } = noChoice] = choices;
  const mark = { [metadataKey]: { turn: id.replace(/^chatcmpl-/, '') } };
  const said = (type: 'reasoning' | 'text', text: string | null | undefined): ContentPart[] =>
    (text ?? '') === '' ? [] : [{ type, text: text ?? '', providerMetadata: mark }];
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  return {
    content: [
      ...said('reasoning', message.reasoning_content),
      ...said('text', message.content),
      ...(message.tool_calls ?? []).map((call): ContentPart => ({
        type: 'tool-call',
        toolCallId: call.id,
        toolName: call.function.name,
        input: call.function.arguments,
        providerMetadata: mark,
      })),
    ],
    finishReason: { unified: unified[raw] ?? 'stop', raw },
    usage: {
      inputTokens: { total: prompt, noCache: prompt, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: completion, text: completion, reasoning: 0 },
    },
    warnings: [],
  };
}

const noChoice: ChatAnswer['choices'][number] = { finish_reason: 'stop', message: { content: '' } };

const unified: Readonly<Record<string, Finish['unified']>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
};

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
  if (part.type === 'tool-call') {
    const { toolCallId, toolName, input: delta } = part;
    return [
      { type: 'tool-input-start', id: toolCallId, toolName },
      { type: 'tool-input-delta', id: toolCallId, delta },
      { type: 'tool-input-end', id: toolCallId },
      part,
    ];
  }
  const { type, text: delta, providerMetadata } = part;
  return [
    { type: `${type}-start`, id, providerMetadata },
    { type: `${type}-delta`, id, delta, providerMetadata },
    { type: `${type}-end`, id, providerMetadata },
  ];
}
