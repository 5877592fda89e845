import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { user } from '../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../agent_rl/core/services/search.ts';
import { trainedKinds } from '../search_tasks/generator/kinds.ts';
import { namesOf } from '../search_tasks/generator/names.ts';
import { trainedWordings } from '../search_tasks/generator/form.ts';
import { askAbout, isFair, type Question } from '../search_tasks/generator/question.ts';
import {
  documentsOf,
  makeWorld,
  type World,
  type WrittenDocument,
} from '../search_tasks/generator/world.ts';
import type { Demonstration } from './demonstrations.ts';
import { demonstrate } from '../search_tasks/teacher/demonstrate.ts';

/** Share of things without a document: more than in the tasks, so that what other passages say is not taken for theirs. */
const undocumented = 0.1;

export interface SearchDemonstrationOptions {
  /** Passages a search shows. */
  topK: number;
  /** Shows documents as the `search` tool does. */
  render: (documents: readonly SearchDocument[]) => string;
  /** The teacher does nothing wrong: to see whether a model can learn to read at all. */
  reliable?: boolean;
}

/** Large enough that a query without a name seldom finds the right document. */
const smallWorld = { town: 10, person: 14, land: 9, ship: 9 };

/**
 * Fresh questions about fresh little worlds with the unreliable teacher's work on them (see
 * `search_tasks/CARD.md`). Only trained kinds, and only names that no task has. Item i depends on the seed and i
 * alone.
 *
 * @yields One conversation after another, `count` in all.
 */
export function* searchDemonstrations(
  seed: number,
  count: number,
  { topK, render, reliable = false }: SearchDemonstrationOptions,
): Generator<Demonstration> {
  for (let index = 0; index < count; index++) {
    const rng = new KeyedRng(seed, 'search demonstration', index);
    const names = rng.child('names').shuffle(namesOf.warmUp);
    const world = makeWorld(smallWorld, names.values(), rng.child('world'), undocumented);
    const documents = world.entities.flatMap((entity) =>
      documentsOf(entity, trainedWordings, rng.child('document')),
    );
    const question = fairQuestion(world, rng.child('question'));
    const { messages, correct } = demonstrate(question, rng.child('teacher'), {
      search: (query, searchRng) => lookUp(query, documents, { topK, rng: searchRng }),
      render,
      reliable,
    });
    yield {
      kind: question.kind.name,
      messages: [user(question.text), ...messages],
      correct,
    };
  }
}

/** Share of the questions whose answer is stated nowhere. */
const absentShare = 0.15;

function fairQuestion(world: World, rng: KeyedRng): Question {
  const kind = rng.pick(trainedKinds);
  const absent = rng.uniform() < absentShare;
  const subjects = rng.shuffle(world.entities.filter(({ type }) => type === kind.subject));
  for (const subject of subjects) {
    const question = askAbout(world, kind, subject, rng);
    if (question.absent === absent && isFair(question)) return question;
  }
  return fairQuestion(world, rng);
}

/**
 * What a search engine would find among a few documents: first those with the query's rarest words. Stands for
 * the engine in demonstrations alone, where only its kind of result matters.
 */
function lookUp(
  query: string,
  documents: readonly WrittenDocument[],
  { topK, rng }: { topK: number; rng: KeyedRng },
): readonly WrittenDocument[] {
  const terms = query.split(' ').filter((term) => term !== 'the');
  return rng
    .shuffle(documents)
    .map((document) => ({
      document,
      score: terms.reduce((sum, term) => sum + worth(term, document), 0),
    }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, topK)
    .map(({ document }) => document);
}

/** Names are rare and say most; a title counts for more than a mention. */
function worth(term: string, { title, text }: SearchDocument): number {
  if (title.split(' ').includes(term)) return 20;
  if (!text.includes(term)) return 0;
  return /^[A-Z]/u.test(term) ? 10 : 3;
}
