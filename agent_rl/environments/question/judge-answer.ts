import type { EpisodeEnd, Verdict } from '../../core/plugins/environment.ts';
import { verdict } from '../../core/plugins/verdict.ts';
import { acceptedAnswers } from '../../core/tasks/answer-match.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import { isRight, keyOfAnswer } from './right-answer.ts';
import type { JudgingSettings } from './settings.ts';

export interface Judging {
  task: QuestionTask;
  settings: JudgingSettings;
  end: EpisodeEnd;
  /** Added to the reward. */
  turnLimit?: number;
  record?: Verdict['record'];
}

/** The verdict on an episode that ended with an answer, or without one. */
export function judgeAnswer(
  given: unknown,
  { task, settings, end, turnLimit = 0, record }: Judging,
): Verdict {
  const answer = answerAsText(given);
  const { match, solvedAt, successReward, noAnswerPenalty } = settings;
  const found = answer !== undefined && isRight(answer, acceptedAnswers(task), settings);
  const right = found === true;
  const metrics = {
    noAnswer: answer === undefined ? 1 : 0,
    ...(match === 'number' && { undecided: found === undefined ? 1 : 0 }),
  };
  const components = {
    success: right ? successReward : 0,
    noAnswer: answer === undefined ? -noAnswerPenalty : 0,
    turnLimit,
  };
  // A task without an answer is not solved, whatever the rewards.
  const byRewards = match === 'rewards' && answer !== undefined;
  return verdict(end, {
    success: right,
    components,
    metrics,
    record,
    answer: answer === undefined ? undefined : keyOfAnswer(answer, match),
    solvedAt: byRewards ? solvedAt : undefined,
  });
}

/** An answer as text: texts as they are, other values as JSON; `undefined` without an answer. */
export function answerAsText(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined;
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.trim() === '' ? undefined : text;
}
