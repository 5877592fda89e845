import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { AssistantMessage, Message, ToolMessage } from '../../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../../agent_rl/core/search.ts';
import type { Question, Step } from '../generator/question.ts';
import { heading } from '../generator/world.ts';
import { drawSlip, type Slip } from './slips.ts';

/** What the teacher works with. */
export interface Surroundings {
  readonly search: (query: string, rng: KeyedRng) => readonly SearchDocument[];
  readonly render: (documents: readonly SearchDocument[]) => string;
  /** A name to guess with. */
  readonly anyName: string;
}

/** Chance of a proper query after a vague one. */
const retryShare = 0.15;

/** The turns of the assistant and of the tool in one demonstration. */
export function demonstrate(
  question: Question,
  rng: KeyedRng,
  surroundings: Surroundings,
): { readonly messages: readonly Message[]; readonly correct: boolean } {
  const work = new Work(question, rng, surroundings);
  const said = work.answer(drawSlip(question.kind, rng.child('slip')));
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
    this.#thought = question.steps.map(({ relation }) => relation).join(', ');
  }

  /** Works on the question and says what it takes for the answer. */
  answer(slip: Slip | undefined): string {
    const { steps } = this.question;
    const [first, second] = steps;
    if (first === undefined) throw new RangeError('A question has at least one step.');
    if (slip === 'guess') return this.#say(this.surroundings.anyName);
    if (slip === 'skip' && second !== undefined) return this.#skip(first, second);
    if (second === undefined) return this.#last(first, slip);
    this.#search(`${first.relation} of ${first.entity.name}`);
    this.#note(first.relation, first.entity.name, first.value);
    return slip === 'stop' ? this.#say(first.value) : this.#last(second, slip);
  }

  #skip(first: Step, second: Step): string {
    this.#thought = second.relation;
    this.#search(`${second.relation} of ${first.entity.name}`);
    const value = this.rng.pick([...first.entity.facts.values()]);
    this.#note(second.relation, first.entity.name, value);
    return this.#say(value);
  }

  #last({ entity, relation, value }: Step, slip: Slip | undefined): string {
    if (slip === 'vague') {
      const found = this.#search(`${relation} of the ${entity.type}`);
      if (this.rng.child('retry').uniform() >= retryShare) return this.#readAny(found, relation);
      this.#thought = 'not found';
    }
    this.#search(`${relation} of ${entity.name}`);
    if (slip !== 'misread') {
      this.#note(relation, entity.name, value);
      return this.#say(value);
    }
    const another = [...entity.facts].find(([other]) => other !== relation);
    const [other, read] = another ?? [relation, value];
    this.#note(other, entity.name, read);
    return this.#say(read);
  }

  /** Takes the first document that has such a fact for the right one. */
  #readAny(found: readonly SearchDocument[], relation: string): string {
    const read = found.map(({ title, text }) => ({ title, value: valueIn(text, relation) }));
    const { title, value } = read.find((one) => one.value !== undefined) ?? {
      title: '',
      value: undefined,
    };
    if (value === undefined) return this.#say(this.surroundings.anyName);
    this.#note(relation, title, value);
    return this.#say(value);
  }

  #note(relation: string, entity: string, value: string): void {
    this.#thought = `of ${entity}: ${heading(relation)} ${value}`;
  }

  #search(query: string): readonly SearchDocument[] {
    const turn = this.messages.length / 2;
    const id = `call_${turn}_0`;
    const found = this.surroundings.search(query, this.rng.child('search', turn));
    const call: AssistantMessage = {
      role: 'assistant',
      content: '',
      reasoning: this.#thought,
      toolCalls: [{ id, name: 'search', arguments: { query } }],
    };
    const content = this.surroundings.render(found);
    const result: ToolMessage = { role: 'tool', name: 'search', callId: id, content };
    this.messages.push(call, result);
    return found;
  }

  #say(answer: string): string {
    this.messages.push({
      role: 'assistant',
      content: `It is ${answer}.`,
      reasoning: this.#thought,
    });
    return answer;
  }
}

/** The value of a relation in a document of the trained form. */
const valueIn = (text: string, relation: string): string | undefined =>
  new RegExp(`\\b${heading(relation)} (\\w+)`, 'u').exec(text)?.[1];
