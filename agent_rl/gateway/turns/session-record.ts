import type { ExecutedCall, Turn } from '../../core/plugins/environment.ts';
import type { AssistantMessage, Message, ToolMessage } from '../../core/message.ts';
import { append } from '../../core/long-lists.ts';
import type { OutsideRecord } from '../../rollout/episode-parts.ts';
import type { TranscriptRecord } from '../../core/transcript.ts';
import { saidIn, withIds } from './asked.ts';
import type { Session } from './session.ts';
import { drifts, type TurnNode } from './turn-tree.ts';

/**
 * What became of the requests of a rollout whose agent returned an answer. Each end of the tree of turns is a sequence; what never
 * reached the client is in none. Their order follows from what was sampled, never from what came first.
 */
export function sessionRecord(session: Session, answer: unknown): OutsideRecord {
  const { nodes } = session.tree;
  const reached = byPlace(nodes.filter(hasReached));
  const ranks = new Map(reached.map((node, rank) => [nodes.indexOf(node), rank]));
  const ends = reached.filter((node) => !node.children.some(hasReached));
  const last = lastAnswer(reached, answer);
  const path = last === undefined ? [] : pathTo(last);
  const { messages, turns } = playedOn(path);
  const lost = nodes.filter((node) => !reached.includes(node));
  return {
    sequences: ends.map((node) => ranked(node.transcript.beginning(node.end).record(), ranks)),
    messages,
    turns,
    undelivered: lost.reduce((sum, { start, end }) => sum + end - start, session.lostTokens),
    requests: {
      turns: nodes.length,
      replayed: session.replayed,
      delivered: reached.length,
      drift: driftOf(session),
      ignored: { ...session.ignored },
      answer: last && ranks.get(nodes.indexOf(last)),
    },
    refused: session.refused,
    cut: last?.cut === true,
    failure: session.failure,
  };
}

/** What clients changed of turns, of each turn once by kind, and requests that begin anew. */
const driftOf = ({ tree: { nodes }, anew }: Session): Record<string, number> => {
  const counts = drifts.map((kind) => [kind, nodes.filter((one) => one.drifts.has(kind)).length]);
  return { ...Object.fromEntries(counts), ...anew };
};

const hasReached = (node: TurnNode): boolean => node.delivered || node.children.some(hasReached);

const byPlace = (nodes: readonly TurnNode[]): TurnNode[] =>
  nodes.toSorted((a, b) => a.depth - b.depth || (a.id < b.id ? -1 : 1));

/**
 * The turn that the agent returned as its answer, or from which it took it, or else the last. Which of the turns of branches that ran
 * side by side came last may vary: those go by place, and before all others.
 */
function lastAnswer(placed: readonly TurnNode[], answer: unknown): TurnNode | undefined {
  const beside = new Set(placed.filter((one) => placed.some((other) => overlap(one, other))));
  const inOrder = (node: TurnNode): boolean => pathTo(node).every((one) => !beside.has(one));
  const ordered = [
    ...placed.filter((node) => !inOrder(node)),
    ...placed.filter(inOrder).toSorted((a, b) => a.askedAt - b.askedAt),
  ];
  const said = typeof answer === 'string' ? answer.trim() : '';
  const saying = (is: (text: string) => boolean) =>
    said === '' ? undefined : ordered.findLast(({ message }) => is(saidIn(message).trim()));
  return saying((text) => text === said) ?? saying((text) => text.includes(said)) ?? ordered.at(-1);
}

/** Whether two turns were under way at the same time. */
const overlap = (one: TurnNode, other: TurnNode): boolean =>
  one !== other && one.askedAt < other.endedAt && other.askedAt < one.endedAt;

function pathTo(last: TurnNode): TurnNode[] {
  const path: TurnNode[] = [];
  for (let node: TurnNode | undefined = last; node !== undefined; node = node.parent)
    path.unshift(node);
  return path;
}

/** Numbers the turns anew: they were counted as they came. */
const ranked = (
  record: TranscriptRecord,
  ranks: ReadonlyMap<number, number>,
): TranscriptRecord => ({
  ...record,
  spans: record.spans.map(({ turn, ...span }) =>
    turn === undefined ? span : { ...span, turn: ranks.get(turn) ?? turn },
  ),
});

/** What was said on a path, and its turns with what their tools are said to have answered. Ids of calls say their place. */
function playedOn(path: readonly TurnNode[]): { messages: Message[]; turns: Turn[] } {
  const messages: Message[] = [];
  const turns: { index: number; message: AssistantMessage; calls: ExecutedCall[] }[] = [];
  for (const [index, { given, message: sent, askedAt, parent }] of path.entries()) {
    const said = given.map(({ message }) => message);
    const last = turns.at(-1);
    // What the agent did between two requests: its calls, and all else.
    const wallMs = askedAt - (parent?.endedAt ?? askedAt);
    if (last !== undefined) append(last.calls, executed(last.message, said, wallMs));
    append(messages, said);
    const place = messages.filter(({ role }) => role === 'assistant').length;
    const message = withIds(sent, place);
    messages.push(message);
    turns.push({ index, message, calls: [] });
  }
  return { messages, turns };
}

function executed(
  turn: AssistantMessage,
  said: readonly Message[],
  wallMs: number,
): ExecutedCall[] {
  const results = said.filter((one): one is ToolMessage => one.role === 'tool');
  return (turn.toolCalls ?? []).flatMap((call): ExecutedCall[] => {
    const content = results.find(({ callId }) => callId === call.id)?.content;
    return content === undefined ? [] : [{ call, result: { content }, status: 'ok', wallMs }];
  });
}
