import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { answerCall } from '#agent_rl/gateway/doors/answer-call.ts';
import type { Session } from '#agent_rl/gateway/turns/session.ts';
import type { SessionRules } from '#agent_rl/gateway/turns/session-rules.ts';
import { type EventAnswer, WholeAnswer } from '#agent_rl/http/answer-request.ts';
import { readLines } from './acme-project.ts';
import { scriptedSession } from './scripted-session.ts';

/** A turn as the captured server wrote it. */
interface CapturedTurn {
  reasoning?: string;
  text: string;
  calls: { id?: string; name: string; args: string }[];
}

type Body = Record<string, unknown> & { messages?: unknown[]; input?: unknown[] };

interface Captured {
  path: string;
  body: Body;
  turn: CapturedTurn;
}

/** What an answer of ours says, whatever its API. */
interface Answered {
  reasoning?: string | undefined;
  text?: string | undefined;
  calls: { id: string; args: string; item?: string }[];
  items?: { reasoning?: string | undefined; message?: string | undefined };
}

const folder = join(packageRoot(), 'tests', 'fixtures', 'agents-on-the-wire');

/** The requests of a capture. */
function capture(name: string): Captured[] {
  let tools: unknown;
  return readLines(folder, `${name}.jsonl`).map((line) => {
    const { path, body, turn } = line as unknown as Captured;
    if (body['tools'] !== 'as before') ({ tools } = body);
    return { path, body: { ...body, tools }, turn };
  });
}

/** What the model writes for such a turn. */
function written({ reasoning = '', text, calls }: CapturedTurn): string {
  const called = calls.map(
    ({ name, args }) =>
      `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${args}}\n</tool_call>`,
  );
  // The template's cue has opened the thought.
  return `${reasoning}</think>${text}${called.join('')}`;
}

/**
 * Plays the requests of a capture to a session whose model writes what the captured server answered. Where a request repeats what that
 * server had sent, it repeats what the session sent; what the client had changed stays changed.
 *
 * @returns the session, and the tokens of each turn as the model drew them
 */
export async function replay(name: string, changed: Partial<SessionRules> = {}) {
  const requests = capture(name);
  let next = '';
  const scripted = await scriptedSession(() => next, changed);
  const drawn: number[][] = [];
  const answers: { asked: unknown[]; sent: [string, string][] }[] = [];
  for (const [index, { path, body, turn }] of requests.entries()) {
    next = written(turn);
    drawn.push([...scripted.text.encodeText(next), scripted.text.endOfTurnId]);
    const asked = body.messages ?? body.input ?? [];
    // Of equal ids the one that was sent in this conversation.
    const here = answers.toSorted((a, b) => Number(repeats(asked, a)) - Number(repeats(asked, b)));
    const sent = new Map(here.flatMap((answer) => answer.sent));
    const answer = await ask(scripted.session, path, replaced(body, sent));
    answers.push({ asked, sent: pairsOf(turn, answer, index + 1) });
  }
  await scripted.session.end();
  return { ...scripted, drawn, requests };
}

const repeats = (asked: readonly unknown[], earlier: { asked: readonly unknown[] }): boolean =>
  earlier.asked.every((one, index) => JSON.stringify(one) === JSON.stringify(asked[index]));

/** Texts of the captured server, and ours. */
function pairsOf(turn: CapturedTurn, answer: Answered, nth: number): [string, string][] {
  const pairs = [
    [turn.reasoning, answer.reasoning],
    [turn.text, answer.text],
    [`rs_${nth}`, answer.items?.reasoning],
    [`msg_${nth}`, answer.items?.message],
    ...turn.calls.flatMap(({ id, args }, index) => [
      [id, answer.calls[index]?.id],
      [args, answer.calls[index]?.args],
      [`fc_${nth}_${index}`, answer.calls[index]?.item],
    ]),
  ] as const;
  return pairs.flatMap(([theirs, ours]) => (theirs && ours !== undefined ? [[theirs, ours]] : []));
}

function replaced<Value>(value: Value, sent: ReadonlyMap<string, string>): Value {
  const seen = (_: string, one: unknown): unknown =>
    typeof one === 'string' ? (sent.get(one) ?? one) : one;
  return JSON.parse(JSON.stringify(value, seen)) as Value;
}

async function ask(session: Session, path: string, body: Body): Promise<Answered> {
  const { signal } = new AbortController();
  const call = { method: 'POST', path, header: () => undefined, body, signal };
  const answer = await answerCall(call, session, { unsupported: 'ignore' });
  if (answer instanceof WholeAnswer) {
    answer.sent();
    return path.endsWith('/responses') ? ofResponse(answer.body) : ofChat(answer.body, 'message');
  }
  const events: string[] = [];
  for await (const event of (answer as EventAnswer).events) events.push(event);
  return path.endsWith('/responses') ? ofResponseEvents(events) : ofChunks(events);
}

interface Message {
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { id: string; function: { arguments: string } }[];
}

function ofChat(body: object, key: 'message' | 'delta'): Answered {
  const [choice] = (body as { choices: Record<'message' | 'delta', Message>[] }).choices;
  const { content, reasoning_content: reasoning, tool_calls: calls = [] } = choice?.[key] ?? {};
  return {
    text: content ?? undefined,
    reasoning,
    calls: calls.map((one) => ({ id: one.id, args: one.function.arguments })),
  };
}

function ofChunks(events: readonly string[]): Answered {
  const said = events
    .filter((event) => event !== '[DONE]')
    .map((event) => JSON.parse(event) as { choices: object[] })
    .filter(({ choices }) => choices.length > 0)
    .map((chunk) => ofChat(chunk, 'delta'));
  return {
    text: said.map(({ text = '' }) => text).join(''),
    reasoning: said.map(({ reasoning = '' }) => reasoning).join(''),
    calls: said.flatMap(({ calls }) => calls),
  };
}

interface Item {
  id: string;
  type: string;
  summary?: { text: string }[];
  content?: { text: string }[];
  call_id: string;
  arguments: string;
}

function ofResponse(body: object): Answered {
  const { output } = body as { output: Item[] };
  const ofType = (asked: string) => output.filter(({ type }) => type === asked);
  const [[reasoning], [message]] = [ofType('reasoning'), ofType('message')];
  return {
    reasoning: reasoning?.summary?.[0]?.text,
    text: message?.content?.[0]?.text,
    items: { reasoning: reasoning?.id, message: message?.id },
    calls: ofType('function_call').map((one) => ({
      id: one.call_id,
      args: one.arguments,
      item: one.id,
    })),
  };
}

/** The last event holds the whole response, which is what the others said. */
function ofResponseEvents(events: readonly string[]): Answered {
  const read = events.map((event) => JSON.parse(event) as ResponseEvent);
  const last = read.at(-1)?.response;
  if (last === undefined) throw new Error('The stream has no last event.');
  const done = read.filter(({ type }) => type === 'response.output_item.done');
  if (JSON.stringify(done.map(({ item }) => item)) !== JSON.stringify(last.output))
    throw new Error('The items of the stream differ from its last event.');
  return ofResponse(last);
}

interface ResponseEvent {
  type: string;
  item?: object;
  response?: { output: object[] };
}
