import { isRecord } from '../../core/is-record.ts';

/** A part of a message. */
interface PromptPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: string };
  readonly providerOptions?: unknown;
}

/** A conversation as the AI SDK has it. */
export type ModelPrompt = readonly {
  readonly role: string;
  readonly content: string | readonly PromptPart[];
}[];

export interface ModelTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
}

interface Call {
  readonly prompt: ModelPrompt;
  readonly tools?: readonly ModelTool[] | undefined;
  readonly toolChoice?: { readonly type: string; readonly toolName?: string } | undefined;
  readonly responseFormat?: { readonly type: string } | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
}

/** Under which a turn finds its name again, in the metadata of its parts. */
export const metadataKey = 'agent_rl';

/** A call of the AI SDK as a request of chat completions. What is not text is sent on, and refused as such. */
export function chatBody(call: Call): object {
  const { toolChoice, responseFormat } = call;
  const named = { type: 'function', function: { name: toolChoice?.toolName } };
  return {
    messages: call.prompt.flatMap(messagesOf),
    tools: call.tools?.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
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

function messagesOf({ role, content }: ModelPrompt[number]): object[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool')
    return content
      .filter(({ type }) => type === 'tool-result')
      .map(({ toolCallId, toolName, output }) => ({
        role,
        tool_call_id: toolCallId,
        name: toolName,
        content: resultText(output),
      }));
  if (role !== 'assistant') return [{ role, content }];
  const textOf = (kind: string): string =>
    content.map(({ type, text }) => (type === kind ? (text ?? '') : '')).join('');
  const calls = content.filter(({ type }) => type === 'tool-call');
  return [
    {
      role,
      content: textOf('text'),
      reasoning_content: textOf('reasoning') || undefined,
      agent_rl_turn: content.map(turnOf).find((turn) => turn !== undefined),
      tool_calls:
        calls.length === 0
          ? undefined
          : calls.map(({ toolCallId, toolName, input }) => ({
              id: toolCallId,
              type: 'function',
              function: { name: toolName, arguments: JSON.stringify(input) },
            })),
    },
  ];
}

function turnOf({ providerOptions }: PromptPart): unknown {
  const own = isRecord(providerOptions) ? providerOptions[metadataKey] : undefined;
  return isRecord(own) ? own['turn'] : undefined;
}

/** What a tool answered, as text: the AI SDK's own clients send the same. */
function resultText(output: PromptPart['output']): string {
  const { type, value, reason } = output ?? { type: 'text' };
  if (type === 'execution-denied') return reason ?? 'Tool execution denied.';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
