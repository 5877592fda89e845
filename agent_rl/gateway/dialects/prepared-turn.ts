import { isRecord } from '../../core/is-record.ts';
import type { AssistantMessage, Message } from '../../core/message.ts';
import { closeThought } from '../../policies/tool-call-formats/read-turn.ts';
import { piecesOf } from '../sampling/pieces-of.ts';
import type { SamplingRequest } from '../sampling/served-model.ts';
import { type AskedConversation, saidIn, sha256 } from '../turns/asked.ts';
import type { Prepared, SessionTurn } from '../turns/session.ts';
import type { Answering } from './openai-answers.ts';
import { drawFields } from './request-fields.ts';

/** The turns that a body asks for. Awaited before the first event of a stream, after which no status can follow. @throws Refusal */
export function preparedFor(
  given: unknown,
  asked: { conversation: AskedConversation; request: SamplingRequest; answers: number },
  { session, retried }: Pick<Answering, 'session' | 'retried'>,
): Promise<Prepared> {
  const { messages } = asked.conversation;
  session.model.refuseEndless(messages.flatMap(({ message }) => shownText(message)));
  if (session.rules.sampling !== undefined && isRecord(given))
    for (const field of drawFields) if ((given[field] ?? null) !== null) session.ignore(field);
  return session.prepare({ ...asked, body: sha256(JSON.stringify(given)), retried });
}

/** The texts of a turn, by the fields in which their pieces are streamed. */
export const turnPieces = (
  prepared: Prepared,
  { model: { reader } }: Answering['session'],
  { tools }: AskedConversation,
) =>
  piecesOf(async (onText) => (await prepared.sample(onText))[0] as SessionTurn, {
    soFar: (text) => saidBy(reader.read(reader.settled(text, tools), tools)),
    whole: ({ message }) => saidBy(message),
  });

const saidBy = (message: AssistantMessage) => ({
  reasoning_content: message.reasoning ?? '',
  content: saidIn(message),
});

/** What a template shows of a message whatever it is; of a turn of the assistant it may leave out thoughts. */
function shownText(message: Message): readonly string[] {
  if (message.role !== 'assistant') return [message.content];
  const said = message.content.split(closeThought).at(-1) ?? '';
  const calls = message.toolCalls ?? [];
  return [said, ...calls.map(({ arguments: args }) => JSON.stringify(args))];
}
