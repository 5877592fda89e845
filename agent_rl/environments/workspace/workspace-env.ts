import { createHash } from 'node:crypto';

import { isRecord } from '../../core/is-record.ts';
import { append } from '../../core/long-lists.ts';
import { type Message, system, type ToolCall, user } from '../../core/message.ts';
import { environment } from '../../core/plugins/environment.ts';
import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  ExecutedCall,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { verdict } from '../../core/plugins/verdict.ts';
import {
  acceptedAnswers,
  answerKey,
  answerKeyAfter,
  isAnswerAfter,
} from '../../core/tasks/answer-match.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import type { Task } from '../../core/tasks/task.ts';
import { WorkspaceSettings } from './settings.ts';

const toolName = 'code_exec';

/** What the final message may open with. */
const openings = ['it is', 'the answer is'];

const isRun = ({ status }: ExecutedCall): boolean => status === 'ok' || status === 'error';
const isError = ({ status }: ExecutedCall): boolean => status === 'error';

const digest = (values: unknown): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 12);

interface World {
  /** Python code that creates it, run before the agent's programs. */
  setup: string;
  answer: string;
}

/** The two worlds of a task: the one that is asked about, and another. */
function worldsOf(task: Task): Record<WorkspaceSettings['world'], World> | undefined {
  const { answer } = task as QuestionTask;
  const { setup, other }: { setup?: unknown; other?: unknown } = task.metadata;
  if (typeof answer !== 'string' || typeof setup !== 'string' || !isRecord(other)) return undefined;
  const { setup: otherSetup, answer: otherAnswer } = other;
  return typeof otherSetup === 'string' && typeof otherAnswer === 'string'
    ? { asked: { setup, answer }, other: { setup: otherSetup, answer: otherAnswer } }
    : undefined;
}

function worldsProblem(task: Task): string | undefined {
  const worlds = worldsOf(task);
  if (worlds === undefined)
    return 'it needs answer, setup (Python code that makes its world) and other: {setup, answer} (a second world).';
  if (answerKey(worlds.asked.answer) === '') return 'its answer has no letter or digit to compare.';
  return answerKey(worlds.asked.answer) === answerKey(worlds.other.answer)
    ? 'its two worlds have the same answer, so the answer would not show which one was read.'
    : undefined;
}

/**
 * The policy answers a question about a world that only exists in the sandbox, in an undocumented form. Programs
 * inspect it; only the final message is judged, by comparison with the whole answer.
 */
@environment({
  name: 'workspace',
  description: 'Answer a question about a world that only programs can see; judged by the answer.',
  settings: WorkspaceSettings,
  requires: [toolName],
  taskFormat: 'question',
  answers: true,
  taskProblem: worldsProblem,
})
export class WorkspaceEnv implements Environment {
  readonly #calls: ExecutedCall[] = [];
  readonly #turnRewards: number[] = [];
  /** What was seen before each turn, and after the last: programs run each on their own and leave nothing else behind. */
  readonly #states = [''];
  #answer: string | undefined;

  constructor(private readonly given: { task: QuestionTask; settings: WorkspaceSettings }) {}

  async start(): Promise<readonly Message[]> {
    const { systemPrompt } = this.given.settings;
    return [
      ...(systemPrompt === undefined ? [] : [system(systemPrompt)]),
      user(this.given.task.prompt),
    ];
  }

  toolInputs({ name }: ToolCall): Readonly<Record<string, unknown>> {
    if (name !== toolName) return {};
    const worlds = worldsOf(this.given.task);
    return { setup: worlds?.[this.given.settings.world].setup };
  }

  async step({ message, calls }: Turn): Promise<EnvironmentStep> {
    const own = calls.filter(({ call }) => call.name === toolName);
    append(this.#calls, own);
    const costs = this.#costsOf(own);
    this.#turnRewards.push(costs.calls + costs.errors);
    const seen = calls.map(({ result }) => result.content);
    const unread = (message.malformedCalls ?? []).map(({ problem }) => problem);
    this.#states.push(digest([this.#states.at(-1), seen, unread]));
    if (calls.length > 0 || (message.malformedCalls ?? []).length > 0) return { done: false };
    const said = message.content.trim();
    if (said !== '') this.#answer = said;
    return { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Verdict> {
    const ran = this.#calls.filter(isRun);
    const errors = ran.filter(isError).length;
    const others = [worldsOf(this.given.task)?.other.answer ?? ''];
    const metrics = {
      programs: ran.length,
      programErrors: errors,
      noAnswer: this.#answer === undefined ? 1 : 0,
      saidOther: this.#says(others) ? 1 : 0,
    };
    const { successReward, turnLimitPenalty } = this.given.settings;
    const right = this.#says(acceptedAnswers(this.given.task));
    const components = {
      success: right ? successReward : 0,
      ...this.#costsOf(ran),
      turnLimit: end === 'turn-limit' ? -turnLimitPenalty : 0,
    };
    const key = answerKeyAfter(openings, this.#answer ?? '');
    return verdict(end, {
      success: right,
      components,
      metrics,
      answer: key === '' ? undefined : key,
      turnRewards: this.#turnRewards,
      turnStates: this.#states,
    });
  }

  #costsOf(calls: readonly ExecutedCall[]): { calls: number; errors: number } {
    const ran = calls.filter(isRun);
    const { callPenalty, errorPenalty } = this.given.settings;
    const errors = ran.filter(isError).length;
    return { calls: -callPenalty * ran.length, errors: -errorPenalty * errors };
  }

  #says(answers: readonly string[]): boolean {
    return this.#answer !== undefined && isAnswerAfter(openings, this.#answer, answers);
  }
}
