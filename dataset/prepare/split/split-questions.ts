import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { PreparedQuestion } from '../collection.ts';
import type { Chunked } from '../passages/chunks.ts';
import { plainText } from '../plain-text.ts';
import { largest } from '../../../agent_rl/core/long-lists.ts';

export const splitBys = ['passage', 'document'] as const;
export type SplitBy = (typeof splitBys)[number];

export interface SplitOptions {
  /** Share of the questions to hold out, 0 to 1. */
  evalShare: number;
  seed: number;
  /**
   * What may not be on both sides: no passage of a question's documents, or only no document. Pages of one
   * publisher share passages, so that the first can bind all of them together.
   */
  splitBy: SplitBy;
}

export interface SplitQuestions {
  train: readonly PreparedQuestion[];
  eval: readonly PreparedQuestion[];
  /** Groups of documents that stay together. */
  families: number;
  /** Questions of the largest family. */
  largestFamily: number;
}

/** Sets that are joined one pair at a time (union-find, with halved paths). */
class Families {
  readonly #parents = new Map<string, string>();

  /** The name of an item's family: one of its members. */
  of(item: string): string {
    let current = item;
    for (;;) {
      const parent = this.#parents.get(current) ?? current;
      if (parent === current) return current;
      const above = this.#parents.get(parent) ?? parent;
      this.#parents.set(current, above);
      current = above;
    }
  }

  join(a: string, b: string): void {
    const [first, second] = [this.of(a), this.of(b)];
    if (first !== second) this.#parents.set(second, first);
  }
}

/**
 * Splits questions so that no document of a question, no question and, by `passage`, no passage of such a document
 * is on both sides. Documents that share a question or a passage are one family, which is never divided; families
 * go to eval in an order that the seed gives, as long as they fit its share.
 */
export function splitQuestions(
  questions: readonly PreparedQuestion[],
  { chunks, placed }: Pick<Chunked, 'chunks' | 'placed'>,
  { evalShare, seed, splitBy }: SplitOptions,
): SplitQuestions {
  const families = new Families();
  const asked = new Set(questions.flatMap(({ documents }) => documents));
  for (const id of splitBy === 'passage' ? asked : []) {
    for (const { chunk } of placed.get(id) ?? []) {
      // Only documents that questions are about can leak an answer.
      for (const other of chunks[chunk]?.documentIds ?? [])
        if (asked.has(other)) families.join(id, other);
    }
  }
  for (const { question, documents } of questions) {
    for (const id of documents) families.join(`question ${plainText(question)}`, id);
  }
  const members = new Map<string, PreparedQuestion[]>();
  for (const question of questions) {
    const family = families.of(question.documents[0] ?? question.id);
    const list = members.get(family) ?? [];
    list.push(question);
    members.set(family, list);
  }
  const wanted = Math.round(evalShare * questions.length);
  const held = new Set<PreparedQuestion>();
  for (const list of new KeyedRng(seed, 'prepare-data', 'split').shuffle([...members.values()])) {
    if (held.size + list.length <= wanted) for (const question of list) held.add(question);
  }
  return {
    train: questions.filter((question) => !held.has(question)),
    eval: questions.filter((question) => held.has(question)),
    families: members.size,
    largestFamily: largest(
      [...members.values()].map((list) => list.length),
      0,
    ),
  };
}
