import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../../agent_rl/core/message.ts';
import type { SearchDocument } from '../../../agent_rl/core/services/search.ts';
import { absentAnswer, type Question, type Step } from '../generator/question.ts';
import { asked, type WrittenDocument } from '../generator/world.ts';
import { drawSlip, type Slip } from './slips.ts';

/** What the teacher works with. */
export interface Surroundings {
  search: (query: string, rng: KeyedRng) => readonly WrittenDocument[];
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
    const found = this.#search(asked(first.entity.name, first.relation));
    const led = this.#read(found, first.entity.name, { relation: first.relation });
    return slip === 'stop' ? this.#say(led) : this.#last(second, slip);
  }

  /** Reads the fact if the thing has one of that name, and else any. */
  #skip({ entity: { name } }: Step, { relation }: Step): string {
    this.#thought = `find ${relation}`;
    const found = this.#search(asked(name, relation));
    const has = factsIn(found, name).some((fact) => !fact.earlier && fact.relation === relation);
    return has ? this.#say(this.#read(found, name, { relation })) : this.#misread(found, name);
  }

  #last({ entity: { name, type }, relation }: Step, slip: Slip | undefined): string {
    if (slip === 'vague') {
      const found = this.#search(asked(type, relation));
      if (this.rng.child('retry').uniform() >= retryShare) return this.#readAny(found, relation);
      this.#thought = 'not found';
    }
    const found = this.#search(asked(name, relation));
    if (slip === 'misread') return this.#misread(found, name, relation);
    if (slip === 'mistake') return this.#mistake(found, name, relation);
    return this.#say(this.#read(found, name, { relation, misses: slip === 'give up' }));
  }

  /** Takes another fact of the document for the one asked for; that of the first document where there is none. */
  #misread(found: readonly WrittenDocument[], name: string, relation?: string): string {
    const others = (title: string) =>
      factsIn(found, title).filter((fact) => fact.relation !== relation);
    const title = others(name).length > 0 ? name : (found[0]?.title ?? name);
    const other = this.rng.child('other').pick(others(title));
    return this.#say(this.#read(found, title, other));
  }

  /** Takes what held formerly, or what holds of a namesake, for what was asked. */
  #mistake(found: readonly WrittenDocument[], name: string, relation: string): string {
    const past = factsIn(found, name).filter((fact) => fact.earlier && fact.relation === relation);
    const namesakes = found.filter(({ title }) => title.endsWith(` ${name}`));
    const reads = [
      ...past.map((fact) => ({ title: name, fact })),
      ...namesakes.map(({ title }) => ({ title, fact: { relation } })),
    ];
    const none = { title: name, fact: { relation } };
    const { title, fact } = reads.length === 0 ? none : this.rng.child('mistake').pick(reads);
    return this.#say(this.#read(found, title, fact));
  }

  /** Takes the first document that has such a fact for the right one. */
  #readAny(found: readonly WrittenDocument[], relation: string): string {
    const any = found.find(({ stated }) =>
      stated.some((fact) => !fact.earlier && fact.relation === relation),
    );
    return this.#say(
      any === undefined ? this.surroundings.anyName : this.#read(found, any.title, { relation }),
    );
  }

  /**
   * Reads a document word for word as far as the fact, or to its end, and notes what it says:
   * `[1] Velmora … Tamlina as mayor so the Velmora mayor Tamlina`, `… so the Velmora mayor not stated`.
   */
  #read(
    found: readonly WrittenDocument[],
    title: string,
    { relation, earlier = false, misses = false }: WantedFact,
  ): string {
    const at = found.findIndex((document) => document.title === title);
    const document = found[at];
    const fact = misses
      ? undefined
      : document?.stated.find((one) => one.relation === relation && one.earlier === earlier);
    const value = fact?.value ?? absentAnswer;
    const quote = document && `[${at + 1}] ${title}\n${document.text.slice(0, fact?.end)} `;
    const subject = earlier ? `former ${title}` : title;
    this.#thought = `${quote ?? ''}so ${asked(subject, relation)} ${value}`;
    return value;
  }

  #search(query: string): readonly WrittenDocument[] {
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

/** What is looked for in a document. */
interface WantedFact {
  relation: string;
  earlier?: boolean;
  /** The reader passes it over. */
  misses?: boolean;
}

const factsIn = (found: readonly WrittenDocument[], title: string) =>
  found.find((document) => document.title === title)?.stated ?? [];
