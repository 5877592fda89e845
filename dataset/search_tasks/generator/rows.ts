import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { trainedWordings, unseenWordings, type Wording, wordingName } from './form.ts';
import { type Kind, oneHopKinds, twoHopKinds, unseenKinds } from './kinds.ts';
import { namesOf } from './names.ts';
import { askAbout, distractorsOf, isFair, type Question } from './question.ts';
import { documentId, documentsOf, makeWorld, type World, type WrittenDocument } from './world.ts';

/** Seed of the files that the package ships. */
export const shippedSeed = 20263;

const worldSize = { town: 60, person: 90, land: 50, ship: 50 };

/** A world with its documents. */
interface Library {
  world: World;
  documents: ReadonlyMap<string, WrittenDocument>;
}

interface Part {
  library: Library;
  prefix: string;
  kinds: readonly { kind: Kind; count: number }[];
  /** Whether the answers are stated nowhere. */
  absent?: boolean;
  slice?: string;
  /** What tasks of the part have in common in clusters; their kind where it is not said. */
  familyOf?: (question: Question) => string;
}

const each = (kinds: readonly Kind[], count: number) => kinds.map((kind) => ({ kind, count }));

/** Makes both splits and the corpus they are answered from, from the seed alone. */
export function makeSearchData(seed: number) {
  const rng = new KeyedRng(seed, 'search tasks');
  const trainNames = rng.child('names', 'train').shuffle(namesOf.train).values();
  const evalNames = rng.child('names', 'eval').shuffle(namesOf.eval).values();
  const library = (name: string, names: Iterator<string>, wordings: readonly Wording[]) => {
    const world = makeWorld(worldSize, names, rng.child('world', name));
    const written = world.entities.flatMap((entity) =>
      documentsOf(entity, wordings, rng.child('documents', name)),
    );
    return { world, documents: new Map(written.map((document) => [document.id, document])) };
  };
  const train = library('train', trainNames, trainedWordings);
  const held = library('eval', evalNames, trainedWordings);
  const reworded = library('reworded', evalNames, unseenWordings);
  const rows = (part: Part) => rowsOf(part, rng.child('rows', part.prefix));
  const trained = (one: number, two: number) => [
    ...each(oneHopKinds, one),
    ...each(twoHopKinds, two),
  ];
  return {
    train: [
      ...rows({ library: train, prefix: 'train', kinds: trained(20, 14) }),
      ...rows({ library: train, prefix: 'train-absent', kinds: trained(4, 2), absent: true }),
    ],
    eval: [
      ...rows({ library: held, prefix: 'eval', kinds: trained(9, 5) }),
      ...rows({
        library: held,
        prefix: 'eval-pairs',
        kinds: each(unseenKinds, 25),
        slice: 'unseen pairs of relations',
      }),
      ...rows({
        library: reworded,
        prefix: 'eval-forms',
        kinds: trained(8, 5),
        slice: 'documents in an unseen form',
        familyOf: (question) => wordingName(wordingOf(question, reworded)),
      }),
      ...rows({
        library: held,
        prefix: 'eval-absent',
        kinds: trained(6, 6),
        absent: true,
        slice: 'answers that are stated nowhere',
      }),
    ],
    documents: [train, held, reworded].flatMap(({ documents }) =>
      [...documents.values()].map(({ id, title, text }) => ({ id, title, text })),
    ),
  };
}

/** How the document that states the answer words its facts. */
function wordingOf({ steps }: Question, { documents }: Library): Wording {
  const last = documents.get(documentId(steps.at(-1)?.entity.name ?? ''));
  if (last === undefined) throw new RangeError('No document states the answer.');
  return last.wording;
}

function rowsOf(part: Part, rng: KeyedRng) {
  const { library, prefix, kinds, absent = false, slice } = part;
  const { world } = library;
  return kinds.flatMap(({ kind, count }) => {
    const questions = rng
      .child(kind.name, 'subjects')
      .shuffle(world.entities.filter(({ type }) => type === kind.subject))
      .map((subject) => askAbout(world, kind, subject, rng.child(kind.name, subject.name)))
      .filter((question) => question.absent === absent && isFair(question))
      .slice(0, count);
    if (questions.length < count)
      throw new RangeError(`${questions.length} of ${kind.name}, ${count} are needed.`);
    return questions.map((question, index) => ({
      task_id: `${prefix}-${kind.name}-${index}`,
      question: question.text,
      answer: question.answer,
      aliases: /^\d/u.test(question.answer) ? [`${question.answer} years`] : [],
      documents: question.steps
        .filter(({ entity }) => entity.documented)
        .map(({ entity }) => documentId(entity.name)),
      metadata: {
        kind: kind.name,
        hops: kind.path.length,
        family: part.familyOf?.(question) ?? kind.name,
        distractors: distractorsOf(question),
        absent: absent || undefined,
        slice,
      },
    }));
  });
}
