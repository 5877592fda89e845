import {
  acceptedAnswers,
  answerKey,
  answerKeyAfter,
  answerWords,
  hintsAtAnswer,
  isAnswerAfter,
  mentionsAnswer,
} from '../../core/tasks/answer-match.ts';
import { environment } from '../../core/plugins/environment.ts';
import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  ExecutedCall,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { type Message, system, type ToolCall, user } from '../../core/message.ts';
import { hitsOf } from '../../core/services/search.ts';
import type { SearchTask } from '../../core/tasks/search-task.ts';
import { SearchSettings } from './settings.ts';
import { type SearchEpisode, type SearchRecord, verdictOf } from './verdict.ts';

const toolName = 'search';

/**
 * The policy receives only a question. It searches as often as it likes and ends with a message without a call: its
 * answer, and only this is judged. Calls and their results are not an answer, and an episode earns nothing if a query
 * contained the answer before the question or a result did.
 */
@environment({
  name: 'search',
  description: 'Answer a question by searching; judged by the final message.',
  settings: SearchSettings,
  requires: [toolName],
  taskFormat: 'search',
  answers: true,
})
export class SearchEnv implements Environment {
  readonly #task: SearchTask;
  readonly #settings: SearchSettings;
  readonly #accepted: readonly string[];
  readonly #searches: SearchRecord[] = [];
  /** The question or a result contains the answer: from then on a query may. */
  #answerShown: boolean;
  #answer: string | undefined;

  constructor({ task, settings }: { task: SearchTask; settings: SearchSettings }) {
    this.#task = task;
    this.#settings = settings;
    this.#accepted = acceptedAnswers(task);
    this.#answerShown = hintsAtAnswer(task.prompt, this.#accepted);
  }

  async start(): Promise<readonly Message[]> {
    const { systemPrompt } = this.#settings;
    return [...(systemPrompt === undefined ? [] : [system(systemPrompt)]), user(this.#task.prompt)];
  }

  /** A task that brings its own documents searches those alone. */
  toolInputs(call: ToolCall): Readonly<Record<string, unknown>> {
    const { documents } = this.#task;
    return call.name === toolName && documents.length > 0 ? { documents } : {};
  }

  async step({ message, calls }: Turn): Promise<EnvironmentStep> {
    // All calls of a turn were written before their results were seen.
    for (const call of calls) this.#look(call);
    this.#answerShown ||= calls.some((call) => this.#reveals(call));
    if (calls.length > 0 || (message.malformedCalls ?? []).length > 0) return { done: false };
    this.#answer = message.content;
    return { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Verdict> {
    const answer = this.#answer;
    return verdictOf(
      {
        end,
        searches: this.#searches,
        answer,
        key: this.#keyOf(answer ?? ''),
        right: answer !== undefined && this.#isRight(answer),
        wordy: answer !== undefined && answerWords(answer).length > this.#settings.maxAnswerWords,
        absence: this.#absence(),
      },
      this.#settings,
    );
  }

  #keyOf(answer: string): string {
    const { match, openings } = this.#settings;
    return answerKeyAfter(match === 'whole' ? openings : [], answer);
  }

  #isRight(answer: string): boolean {
    const { match, openings } = this.#settings;
    return match === 'whole'
      ? isAnswerAfter(openings, answer, this.#accepted)
      : mentionsAnswer(answer, this.#accepted);
  }

  /** Whether the answer is absent from the corpus, and whether the final message says so. */
  #absence(): SearchEpisode['absence'] {
    const { absentAnswer, openings } = this.#settings;
    if (absentAnswer === undefined) return undefined;
    const said =
      this.#answer !== undefined && isAnswerAfter(openings, this.#answer, [absentAnswer]);
    return { said, rightly: this.#task.metadata['absent'] === true };
  }

  #look(executed: ExecutedCall): void {
    const { call, result, status } = executed;
    const { query } = call.arguments;
    if (call.name !== toolName || status === 'rejected' || typeof query !== 'string') return;
    const key = answerKey(query);
    this.#searches.push({
      query,
      status,
      documentIds: (hitsOf(result) ?? []).map(({ documentId }) => documentId),
      quotedAnswer: !this.#answerShown && hintsAtAnswer(query, this.#accepted),
      repeated: this.#searches.some((earlier) => answerKey(earlier.query) === key),
      foundAnswer: this.#shows(executed),
    });
  }

  /** A result that repeats the call, as a calculator's does, reveals nothing. */
  #reveals(executed: ExecutedCall): boolean {
    const said = JSON.stringify(executed.call.arguments);
    return this.#shows(executed) && !hintsAtAnswer(said, this.#accepted);
  }

  #shows({ result, status }: ExecutedCall): boolean {
    return status === 'ok' && mentionsAnswer(result.content, this.#accepted);
  }
}
