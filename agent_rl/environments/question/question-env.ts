import { environment } from '../../core/plugins/environment.ts';
import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { verdict } from '../../core/plugins/verdict.ts';
import { type Message, system, user } from '../../core/message.ts';
import { acceptedAnswers } from '../../core/tasks/answer-match.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import { answerProblem, isRight, keyOfAnswer } from './right-answer.ts';
import { QuestionSettings } from './settings.ts';

/**
 * The policy is given a question. It may call whatever tools the run has and ends with a message without a call: its
 * answer, which is compared with the task's, or left to the rewards.
 */
@environment({
  name: 'question',
  description: 'Answer a question, with or without tools; judged by the final message.',
  settings: QuestionSettings,
  taskFormat: 'question',
  answers: true,
  taskProblem: (task, settings) => answerProblem(task, settings as QuestionSettings),
})
export class QuestionEnv implements Environment {
  readonly #task: QuestionTask;
  readonly #settings: QuestionSettings;
  #answer: string | undefined;

  constructor({ task, settings }: { task: QuestionTask; settings: QuestionSettings }) {
    this.#task = task;
    this.#settings = settings;
  }

  async start(): Promise<readonly Message[]> {
    const { systemPrompt } = this.#settings;
    return [...(systemPrompt === undefined ? [] : [system(systemPrompt)]), user(this.#task.prompt)];
  }

  async step({ message, calls }: Turn): Promise<EnvironmentStep> {
    if (calls.length > 0 || (message.malformedCalls ?? []).length > 0) return { done: false };
    const said = message.content.trim();
    if (said !== '') this.#answer = said;
    return { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Verdict> {
    const answer = this.#answer;
    const { match, solvedAt, successReward, noAnswerPenalty, turnLimitPenalty } = this.#settings;
    const accepted = acceptedAnswers(this.#task);
    const found = answer !== undefined && isRight(answer, accepted, this.#settings);
    const right = found === true;
    const metrics = {
      noAnswer: answer === undefined ? 1 : 0,
      ...(match === 'number' && { undecided: found === undefined ? 1 : 0 }),
    };
    const components = {
      success: right ? successReward : 0,
      noAnswer: answer === undefined ? -noAnswerPenalty : 0,
      turnLimit: end === 'turn-limit' ? -turnLimitPenalty : 0,
    };
    // What was never answered is not solved, whatever rewards pay for the way there.
    const byRewards = match === 'rewards' && answer !== undefined;
    return verdict(end, {
      success: right,
      components,
      metrics,
      answer: answer === undefined ? undefined : keyOfAnswer(answer, match),
      solvedAt: byRewards ? solvedAt : undefined,
    });
  }
}
