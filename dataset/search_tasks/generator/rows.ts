import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { type Kind, oneHopKinds, twoHopKinds, unseenKinds } from './kinds.ts';
import { namesOf } from './names.ts';
import { askAbout, isFair } from './question.ts';
import {
  type DocumentForm,
  documentOf,
  makeWorld,
  trainedForm,
  unseenForm,
  type World,
} from './world.ts';

/** Seed of the files that the package ships. */
export const shippedSeed = 20263;

const worldSize = { town: 60, person: 90, land: 40, ship: 40 };

interface Part {
  world: World;
  prefix: string;
  kinds: readonly { kind: Kind; count: number }[];
  slice?: string;
}

const each = (kinds: readonly Kind[], count: number) => kinds.map((kind) => ({ kind, count }));

/** Makes both splits and the corpus they are answered from, from the seed alone. */
export function makeSearchData(seed: number) {
  const rng = new KeyedRng(seed, 'search tasks');
  const trainNames = rng.child('names', 'train').shuffle(namesOf.train).values();
  const evalNames = rng.child('names', 'eval').shuffle(namesOf.eval).values();
  const train = makeWorld(worldSize, trainNames, rng.child('world', 'train'));
  const held = makeWorld(worldSize, evalNames, rng.child('world', 'eval'));
  const reworded = makeWorld(worldSize, evalNames, rng.child('world', 'reworded'));
  const rows = (part: Part) => rowsOf(part, rng.child('rows', part.prefix));
  return {
    train: rows({
      world: train,
      prefix: 'train',
      kinds: [...each(oneHopKinds, 20), ...each(twoHopKinds, 14)],
    }),
    eval: [
      ...rows({
        world: held,
        prefix: 'eval',
        kinds: [...each(oneHopKinds, 9), ...each(twoHopKinds, 5)],
      }),
      ...rows({
        world: held,
        prefix: 'eval-pairs',
        kinds: each(unseenKinds, 8),
        slice: 'unseen pairs of relations',
      }),
      ...rows({
        world: reworded,
        prefix: 'eval-forms',
        kinds: [...each(oneHopKinds, 3), ...each(twoHopKinds.slice(0, 14), 2)],
        slice: 'documents in an unseen form',
      }),
    ],
    documents: [
      ...documentsOf(train, trainedForm, rng.child('documents', 'train')),
      ...documentsOf(held, trainedForm, rng.child('documents', 'eval')),
      ...documentsOf(reworded, unseenForm, rng.child('documents', 'reworded')),
    ],
  };
}

const documentsOf = (world: World, form: DocumentForm, rng: KeyedRng): SearchDocument[] =>
  world.entities.map((entity) => documentOf(entity, form, rng.child(entity.name)));

function rowsOf({ world, prefix, kinds, slice }: Part, rng: KeyedRng) {
  return kinds.flatMap(({ kind, count }) => {
    const questions = rng
      .child(kind.name, 'subjects')
      .shuffle(world.entities.filter(({ type }) => type === kind.subject))
      .map((subject) => askAbout(world, kind, subject, rng.child(kind.name, subject.name)))
      .filter(isFair)
      .slice(0, count);
    if (questions.length < count) throw new RangeError(`Too few of ${kind.subject}: ${count}.`);
    return questions.map(({ text, answer, steps }, index) => ({
      task_id: `${prefix}-${kind.name}-${index}`,
      question: text,
      answer,
      aliases: /^\d/u.test(answer) ? [`${answer} years`] : [],
      documents: steps.map(({ entity }) => entity.name.toLowerCase()),
      metadata: { kind: kind.name, hops: kind.path.length, ...(slice !== undefined && { slice }) },
    }));
  });
}
