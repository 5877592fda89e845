import type { AssistantMessage } from '../../core/message.ts';
import type { Transcript } from '../../core/transcript.ts';
import { type AskedMessage, argumentsText, messageDigest, saidIn } from './asked.ts';

/** A turn that the model was asked for. */
export interface TurnNode {
  /** Of the answer; its calls and items have ids that begin with it. */
  readonly id: string;
  readonly parent: TurnNode | undefined;
  /** Turns before it in its sequence. */
  readonly depth: number;
  /** Digests of the messages between its parent's turn and it. */
  readonly asked: readonly string[];
  readonly given: readonly AskedMessage[];
  /** Digest of the tools that it was asked with. */
  readonly tools: string;
  /** Gives its number among equal requests back. */
  readonly free: () => void;
  readonly message: AssistantMessage;
  /** Its sampled tokens reach from `start` to `end`; the tokens of turns that continue it follow. */
  transcript: Transcript;
  readonly start: number;
  readonly end: number;
  /** What the generator keeps its context under, unless another turn continued it or it was cut. */
  context: string | undefined;
  /** When it was asked for, and when it was sampled, in ms of a clock that only goes on. */
  readonly askedAt: number;
  readonly endedAt: number;
  delivered: boolean;
  /** What the client changed of it. */
  readonly drifts: Set<Drift>;
  /** A limit of the run ended it. */
  readonly cut: boolean;
  readonly children: TurnNode[];
}

/** The parts of a turn that clients may change when they send it back. */
export const drifts = ['thoughts', 'arguments', 'content', 'history', 'tools'] as const;
export type Drift = (typeof drifts)[number];

/** The turn that a request continues. */
export interface Found {
  readonly parent: TurnNode | undefined;
  readonly rest: readonly AskedMessage[];
  /** Turns of the model in the request, in its order, with what is sent back as them. */
  readonly own: readonly { readonly node: TurnNode; readonly as: AskedMessage }[];
}

/** The turns of one rollout. A request continues the turn whose conversation it repeats, and otherwise begins anew. */
export class TurnTree {
  readonly #roots: TurnNode[] = [];
  readonly nodes: TurnNode[] = [];

  add(node: TurnNode): void {
    (node.parent?.children ?? this.#roots).push(node);
    this.nodes.push(node);
  }

  /** Forgets the oldest turn. Those that continue it are not found any more. */
  forgetOldest(): TurnNode | undefined {
    const node = this.nodes.shift();
    if (node === undefined) return undefined;
    const siblings = node.parent?.children ?? this.#roots;
    siblings.splice(siblings.indexOf(node), 1);
    return node;
  }

  named(id: string | undefined): TurnNode | undefined {
    return this.nodes.find((node) => node.id === id);
  }

  /** The longest path of own turns that the messages repeat, and what follows it. */
  find(messages: readonly AskedMessage[], tools: string): Found {
    const digests = messages.map(messageDigest);
    const walk = (from: number, parent: TurnNode | undefined): Found => {
      // Of equal ones the last delivered; the longest path wins, whatever turns its first request was given.
      const paths = (parent?.children ?? this.#roots).flatMap((node) => {
        const at = from + node.asked.length;
        const as = messages[at];
        const asked = digests.slice(from, at);
        if (as === undefined || node.tools !== tools || !isEqual(node.asked, asked)) return [];
        if (!isTurn(as, node)) return [];
        const { own, ...found } = walk(at + 1, node);
        return [{ ...found, own: [{ node, as }, ...own] }];
      });
      const isDelivered = ({ own: [first] }: Found): number => Number(first?.node.delivered);
      const [best] = paths
        .toReversed()
        .toSorted((a, b) => a.rest.length - b.rest.length || isDelivered(b) - isDelivered(a));
      return best ?? { parent, rest: messages.slice(from), own: [] };
    };
    return walk(0, undefined);
  }
}

const isEqual = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((digest, index) => digest === other[index]);

/** Whether a message of the assistant is that turn: by the ids of its calls or items; text alone by what it says. */
export function isTurn({ message, turn, ids = [] }: AskedMessage, node: TurnNode): boolean {
  if (message.role !== 'assistant') return false;
  if (turn !== undefined && turn !== node.id) return false;
  const own = node.message.toolCalls ?? [];
  const sameCalls = ids.length === own.length && ids.every((id, index) => id === own[index]?.id);
  return sameCalls && saidIn(message).trim() === saidIn(node.message).trim();
}

const given = ({ toolCalls = [] }: AssistantMessage) => toolCalls.map(argumentsText);

/** The parts of a turn that a client changed before it sent the turn back. */
export function driftsOf({ message }: AskedMessage, node: TurnNode): readonly Drift[] {
  if (message.role !== 'assistant') return [];
  const { message: own } = node;
  const found: Drift[] = [];
  if ((own.reasoning ?? '').trim() !== (message.reasoning ?? '').trim()) found.push('thoughts');
  if (!isEqual(given(own), given(message))) found.push('arguments');
  if (saidIn(message) !== saidIn(own)) found.push('content');
  return found;
}
