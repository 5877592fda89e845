import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { absentAnswer, type Question, type Step } from '../generator/question.ts';
import { asked, type Entity, type Namesake } from '../generator/world.ts';
import { drawSlip, type Slip } from './slips.ts';

/** What the teacher works with. */
export interface Surroundings {
  search: (query: string, rng: KeyedRng) => readonly SearchDocument[];
  render: (documents: readonly SearchDocument[]) => string;
  /** What a document states, by its title. */
  read: (title: string) => Namesake;
  /** A name to guess with. */
  anyName: string;
  /** Does nothing wrong. */
  reliable?: boolean;
}

/** Chance of a proper query after a vague one. */
const retryShare = 0.15;

/** The turns of the assistant and of the tool in one demonstration. */
export function demonstrate(
  question: Question,
  rng: KeyedRng,
  surroundings: Surroundings,
): { messages: readonly Message[]; correct: boolean } {
  const work = new Work(question, rng, surroundings);
  const slip = surroundings.reliable === true ? undefined : drawSlip(question, rng.child('slip'));
  const said = work.answer(slip);
  return { messages: work.messages, correct: said === question.answer };
}

class Work {
  readonly messages: Message[] = [];
  #thought: string;

  constructor(
    private readonly question: Question,
    private readonly rng: KeyedRng,
    private readonly surroundings: Surroundings,
  ) {
    this.#thought = `find ${question.kind.path.map(({ name }) => name).join(', ')}`;
  }

  /** Works on the question and says what it takes for the answer. */
  answer(slip: Slip | undefined): string {
    const [first, second] = this.question.steps;
    if (first === undefined) throw new RangeError('A question has at least one step.');
    if (slip === 'guess') return this.#say(this.surroundings.anyName);
    if (second === undefined) return this.#last(first, slip);
    if (slip === 'skip') return this.#skip(first, second);
    this.#search(asked(first.entity.name, first.relation));
    const led = this.#note(first.entity.name, first.relation, first.value ?? absentAnswer);
    return slip === 'stop' ? this.#say(led) : this.#last(second, slip);
  }

  /** Reads the fact if the thing has one of that name, and else any. */
  #skip({ entity: { name, facts } }: Step, { relation }: Step): string {
    this.#thought = `find ${relation}`;
    this.#search(asked(name, relation));
    const value = facts.get(relation);
    return value === undefined
      ? this.#readAnother(name, facts, relation)
      : this.#say(this.#note(name, relation, value));
  }

  #last({ entity, relation, value = absentAnswer }: Step, slip: Slip | undefined): string {
    if (slip === 'vague') {
      const found = this.#search(asked(entity.type, relation));
      if (this.rng.child('retry').uniform() >= retryShare) return this.#readAny(found, relation);
      this.#thought = 'not found';
    }
    const [best] = this.#search(asked(entity.name, relation));
    if (slip === 'mistake') return this.#mistake(entity, relation);
    if (slip === 'misread' && best !== undefined) {
      const title = entity.documented ? entity.name : best.title;
      return this.#readAnother(title, this.surroundings.read(title).facts, relation);
    }
    return this.#say(this.#note(entity.name, relation, slip === 'give up' ? absentAnswer : value));
  }

  /** Reads what held formerly, or what holds of the namesake. */
  #mistake({ name, documented, earlier, namesake }: Entity, relation: string): string {
    const past = documented ? earlier.get(relation) : undefined;
    const other = namesake?.facts.get(relation);
    if (past !== undefined && (other === undefined || this.rng.child('past').uniform() < 0.5))
      return this.#say(this.#note(`former ${name}`, relation, past));
    return this.#say(this.#note(namesake?.name ?? name, relation, other ?? absentAnswer));
  }

  #readAnother(title: string, facts: ReadonlyMap<string, string>, relation: string): string {
    const others = [...facts].filter(([other]) => other !== relation);
    return this.#say(this.#note(title, ...this.rng.child('other').pick(others)));
  }

  /** Takes the first document that has such a fact for the right one. */
  #readAny(found: readonly SearchDocument[], relation: string): string {
    for (const { title } of found) {
      const value = this.surroundings.read(title).facts.get(relation);
      if (value !== undefined) return this.#say(this.#note(title, relation, value));
    }
    return this.#say(this.surroundings.anyName);
  }

  /** Notes a fact: `the Velmora mayor Tamlina`, whatever the words of the document. */
  #note(entity: string, relation: string, value: string): string {
    this.#thought = `${asked(entity, relation)} ${value}`;
    return value;
  }

  #search(query: string): readonly SearchDocument[] {
    const turn = this.messages.length / 2;
    const id = `call_${turn}_0`;
    const found = this.surroundings.search(query, this.rng.child('search', turn));
    const toolCalls = [{ id, name: 'search', arguments: { query } }];
    const content = this.surroundings.render(found);
    this.messages.push(
      { role: 'assistant', content: '', reasoning: this.#thought, toolCalls },
      { role: 'tool', name: 'search', callId: id, content },
    );
    return found;
  }

  #say(answer: string): string {
    const content = `It is ${answer}.`;
    this.messages.push({ role: 'assistant', content, reasoning: this.#thought });
    return answer;
  }
}
