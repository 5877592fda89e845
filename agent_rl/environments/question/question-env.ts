import { environment } from '../../core/plugins/environment.ts';
import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { type Message, system, user } from '../../core/message.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import { judgeAnswer } from './judge-answer.ts';
import { answerProblem } from './right-answer.ts';
import { QuestionSettings } from './settings.ts';

/**
 * The policy receives a question. It may call any tool of the run, and ends with a message without a call: its answer,
 * which is compared with the task's, or left to the rewards.
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
  #answer: string | undefined;

  constructor(private readonly given: { task: QuestionTask; settings: QuestionSettings }) {}

  async start(): Promise<readonly Message[]> {
    const { systemPrompt } = this.given.settings;
    return [
      ...(systemPrompt === undefined ? [] : [system(systemPrompt)]),
      user(this.given.task.prompt),
    ];
  }

  async step({ message, calls }: Turn): Promise<EnvironmentStep> {
    if (calls.length > 0 || (message.malformedCalls ?? []).length > 0) return { done: false };
    const said = message.content.trim();
    if (said !== '') this.#answer = said;
    return { done: true };
  }

  async finish(end: EpisodeEnd): Promise<Verdict> {
    const { turnLimitPenalty } = this.given.settings;
    const turnLimit = end === 'turn-limit' ? -turnLimitPenalty : 0;
    return judgeAnswer(this.#answer, {
      task: this.given.task,
      settings: this.given.settings,
      end,
      turnLimit,
    });
  }
}
