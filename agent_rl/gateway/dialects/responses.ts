import { type Static, Type } from '../../core/typebox.ts';
import { isRecord } from '../../core/is-record.ts';
import { EventAnswer, WholeAnswer } from '../../http/answer-request.ts';
import { wrongField } from '../../http/refusal.ts';
import type { AskedMessage } from '../turns/asked.ts';
import type { Session, SessionTurn } from '../turns/session.ts';
import type { TurnNode, TurnTree } from '../turns/turn-tree.ts';
import { toolsOf } from './chat-messages.ts';
import type { Answering } from './openai-answers.ts';
import { preparedFor, turnPieces } from './prepared-turn.ts';
import { bodyReader, nullable, samplingFields, samplingOf } from './request-fields.ts';
import { type Item, itemsOf, OutputEvents } from './responses-events.ts';
import { askedItems, wholeItems } from './responses-items.ts';

const ResponsesRequest = Type.Object({
  ...samplingFields,
  input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.Unknown(), { minItems: 1 })]),
  instructions: nullable(Type.String()),
  previous_response_id: nullable(Type.String()),
  tools: nullable(Type.Array(Type.Unknown())),
  tool_choice: nullable(Type.String()),
  max_output_tokens: nullable(Type.Integer({ minimum: 1 })),
});
const plainText = { format: { type: 'text' } };
const readBody = bodyReader(ResponsesRequest, {
  tool_choice: ['auto', 'none'],
  parallel_tool_calls: [true],
  background: [false],
  truncation: ['disabled'],
  text: [{}, plainText, { verbosity: 'medium' }, { ...plainText, verbosity: 'medium' }],
  // Thoughts are sent whole, as their summary.
  reasoning: [{}, { summary: 'auto' }, { summary: 'detailed' }],
  include: [[], ['reasoning.encrypted_content']],
  top_logprobs: [0],
});

/** What the turns that were sent answer: requests may go on from them. */
const askedWith = new WeakMap<TurnNode, readonly Item[]>();

/** Answers `POST /v1/responses`. Items are kept as long as their turns. @throws Refusal */
export async function response(
  given: unknown,
  { session, head, ...asking }: Answering,
): Promise<WholeAnswer | EventAnswer> {
  const body = readBody(given, asking.ignore);
  const { items, conversation } = conversationOf(body, session);
  const request = samplingOf(body, { ...asking, maxTokens: body.max_output_tokens ?? undefined });
  const asked = { conversation, request, answers: 1 };
  const prepared = await preparedFor(given, asked, { session, retried: asking.retried });
  const sampling = session.rules.sampling ?? request.sampling;
  const unfinished = {
    id: `resp_${prepared.id}`,
    object: 'response',
    created_at: head.created,
    model: head.model,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    output: [] as readonly Item[],
    parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    temperature: sampling.temperature,
    text: plainText,
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: sampling.topP,
    truncation: 'disabled',
    metadata: {},
    usage: null,
  };
  const finished = (turn: SessionTurn, output: readonly Item[]) => {
    askedWith.set(turn.node, items);
    const status = statusOf(turn);
    const why = status === 'incomplete' ? { reason: 'max_output_tokens' } : null;
    return { ...unfinished, status, incomplete_details: why, output, usage: usageOf(turn) };
  };
  if (body.stream !== true) {
    const [turn] = (await prepared.sample()) as readonly [SessionTurn];
    const output = itemsOf(prepared.id, turn.message, statusOf(turn));
    return new WholeAnswer(finished(turn, output), prepared.sent);
  }
  return new EventAnswer(
    (async function* events() {
      let count = 0;
      const event = (type: string, fields: object): string =>
        JSON.stringify({ type, sequence_number: count++, ...fields });
      yield event('response.created', { response: unfinished });
      yield event('response.in_progress', { response: unfinished });
      const output = new OutputEvents(prepared.id, event);
      const pieces = turnPieces(prepared, session, conversation);
      for await (const piece of pieces.texts)
        for (const [kind, text] of Object.entries(piece)) yield* output.say(kind, text);
      const turn = await pieces.result;
      yield* output.end(turn.message, statusOf(turn));
      const last = finished(turn, output.items);
      // A client that has its answer may end before it reads on.
      prepared.sent();
      yield event(`response.${last.status}`, { response: last });
    })(),
  );
}

/** What is asked, as items and as messages. @throws Refusal */
function conversationOf(
  { instructions, previous_response_id: previous, ...body }: Static<typeof ResponsesRequest>,
  session: Session,
) {
  const { tree } = session;
  const earlier = itemsBefore(previous ?? undefined, tree);
  const input =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  const items = [...earlier, ...wholeItems(input, tree)];
  const messages: AskedMessage[] = [...askedItems(items, earlier.length, tree)];
  if ((instructions ?? '') !== '')
    messages.unshift({ message: { role: 'system', content: instructions ?? '' } });
  const given = body.tool_choice === 'none' ? [] : (body.tools ?? []);
  const tools = toolsOf(given.map(chatTool), session);
  return { items, conversation: { messages, tools } };
}

const statusOf = ({ finish }: SessionTurn) => (finish === 'length' ? 'incomplete' : 'completed');

const usageOf = ({ promptTokens, tokens }: SessionTurn): object => ({
  input_tokens: promptTokens.length,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: tokens.length,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: promptTokens.length + tokens.length,
});

/** A tool as chat completions have it. */
function chatTool(tool: unknown): unknown {
  if (!isRecord(tool) || tool['type'] !== 'function' || 'function' in tool) return tool;
  const { type, name, description, parameters } = tool;
  return { type, function: { name, description, parameters } };
}

/** What an earlier answer was asked with, and its items. Its instructions were of its request alone. @throws Refusal */
function itemsBefore(id: string | undefined, tree: TurnTree): readonly Item[] {
  if (id === undefined) return [];
  const node = tree.named(id.replace(/^resp_/, ''));
  const asked = node === undefined ? undefined : askedWith.get(node);
  if (node !== undefined && asked !== undefined)
    return [...asked, ...itemsOf(node.id, node.message)];
  throw wrongField(
    'previous_response_id',
    'unknown',
    `previous_response_id: this server has no stored response with the id ${JSON.stringify(id)}. Send the whole conversation in input.`,
    'previous_response_not_found',
  );
}
