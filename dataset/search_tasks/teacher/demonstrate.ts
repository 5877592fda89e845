import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import type { Question, Step } from '../generator/question.ts';
import { asked } from '../generator/world.ts';
import { drawSlip, type Slip } from './slips.ts';

/** What the teacher works with. */
export interface Surroundings {
  search: (query: string, rng: KeyedRng) => readonly SearchDocument[];
  render: (documents: readonly SearchDocument[]) => string;
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
  const slip =
    surroundings.reliable === true ? undefined : drawSlip(question.kind, rng.child('slip'));
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
    this.#thought = `find ${question.steps.map(({ relation }) => relation).join(', ')}`;
  }

  /** Works on the question and says what it takes for the answer. */
  answer(slip: Slip | undefined): string {
    const { steps } = this.question;
    const [first, second] = steps;
    if (first === undefined) throw new RangeError('A question has at least one step.');
    if (slip === 'guess') return this.#say(this.surroundings.anyName);
    if (slip === 'skip' && second !== undefined) return this.#skip(first, second);
    if (second === undefined) return this.#last(first, slip);
    this.#search(asked(first.entity.name, first.relation));
    this.#note(first.entity.name, first.relation, first.value);
    return slip === 'stop' ? this.#say(first.value) : this.#last(second, slip);
  }

  /** Reads the fact if the thing has one of that name, and else any. */
  #skip({ entity }: Step, { relation }: Step): string {
    this.#thought = `find ${relation}`;
    this.#search(asked(entity.name, relation));
    const read = entity.facts.has(relation) ? relation : this.rng.pick([...entity.facts.keys()]);
    return this.#say(this.#note(entity.name, read, entity.facts.get(read) ?? ''));
  }

  #last({ entity, relation, value }: Step, slip: Slip | undefined): string {
    if (slip === 'vague') {
      const found = this.#search(asked(entity.type, relation));
      if (this.rng.child('retry').uniform() >= retryShare) return this.#readAny(found, relation);
      this.#thought = 'not found';
    }
    this.#search(asked(entity.name, relation));
    if (slip !== 'misread') return this.#say(this.#note(entity.name, relation, value));
    const others = [...entity.facts].filter(([other]) => other !== relation);
    return this.#say(this.#note(entity.name, ...this.rng.pick(others)));
  }

  /** Takes the first document that has such a fact for the right one. */
  #readAny(found: readonly SearchDocument[], relation: string): string {
    for (const { title, text } of found) {
      const value = valueIn(text, asked(title, relation));
      if (value !== undefined) return this.#say(this.#note(title, relation, value));
    }
    return this.#say(this.surroundings.anyName);
  }

  /** Notes a fact in the words of the document. */
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

const valueIn = (text: string, fact: string): string | undefined =>
  new RegExp(`\\b${fact} (\\w+)`, 'u').exec(text)?.[1];
