import type { ExecutedCall, Turn } from '../../core/plugins/environment.ts';
import type { Message, ToolMessage } from '../../core/message.ts';
import type { OutsideRecord } from '../../rollout/rollout-door.ts';
import type { TranscriptRecord } from '../../core/transcript.ts';
import { saidIn } from './asked.ts';
import type { Session } from './session.ts';
import type { TurnNode } from './turn-tree.ts';

/**
 * What became of the requests of one rollout. Its sequences are the ends of the tree of turns: those that another turn continues are
 * in its sequence, and turns whose answer never reached the client are in none. Their order follows from what was sampled, never from
 * what came first.
 *
 * @param answer what the agent returned
 */
export function sessionRecord(session: Session, answer: unknown): OutsideRecord {
  const { nodes } = session.tree;
  const reached = nodes.filter(hasReached);
  const ranks = new Map(byPlace(reached).map((node, rank) => [nodes.indexOf(node), rank]));
  const ends = byPlace(reached.filter((node) => !node.children.some(hasReached)));
  const last = lastAnswer(reached, answer);
  const path = last === undefined ? [] : pathTo(last);
  const turns = path.map((node, index) => turnOf(node, index, path[index + 1]));
  const lost = nodes.filter((node) => !reached.includes(node));
  return {
    sequences: ends.map((node) => ranked(node.transcript.beginning(node.end).record(), ranks)),
    messages: path.flatMap(({ given, message }): Message[] => [
      ...given.map((one) => one.message),
      message,
    ]),
    turns,
    malformedCalls: turns.reduce(
      (sum, { message }) => sum + (message.malformedCalls ?? []).length,
      0,
    ),
    undelivered: lost.reduce((sum, { start, end }) => sum + end - start, session.lostTokens),
    requests: {
      turns: nodes.length,
      replayed: session.replayed,
      delivered: reached.length,
      drift: { ...session.drift },
      ignored: { ...session.ignored },
    },
    refused: session.refused,
    cut: last?.cut === true,
    failure: session.failure,
  };
}

const hasReached = (node: TurnNode): boolean => node.delivered || node.children.some(hasReached);

const byPlace = (nodes: readonly TurnNode[]): TurnNode[] =>
  nodes.toSorted((a, b) => a.depth - b.depth || (a.id < b.id ? -1 : 1));

/** The turn that the agent returned as its answer, or else the last. */
function lastAnswer(reached: readonly TurnNode[], answer: unknown): TurnNode | undefined {
  const said = typeof answer === 'string' ? answer.trim() : undefined;
  return reached.findLast(({ message }) => saidIn(message).trim() === said) ?? reached.at(-1);
}

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

/** A turn, and what its tools are said to have answered in the next request. */
function turnOf({ message }: TurnNode, index: number, next: TurnNode | undefined): Turn {
  const results = new Map(
    (next?.given ?? [])
      .map((one) => one.message)
      .filter((one): one is ToolMessage => one.role === 'tool')
      .map(({ callId, content }) => [callId, content]),
  );
  const calls = (message.toolCalls ?? []).flatMap((call): ExecutedCall[] => {
    const content = results.get(call.id);
    return content === undefined ? [] : [{ call, result: { content }, status: 'ok', wallMs: 0 }];
  });
  return { index, message, calls };
}
