import { type EpisodeView, reward } from '../../core/plugins/reward.ts';
import { finalAnswer } from '../final-answer.ts';
import { JudgeClient } from './judge-client.ts';
import { judgePrompt, partsOf } from './judge-prompt.ts';
import { ModelJudgeSettings } from './settings.ts';

/**
 * What a model says of an episode, from 0 to 1, after "LLM as a judge" (Zheng et al. 2023,
 * https://arxiv.org/abs/2306.05685). A failed judge, or an answer without a score, is a grader error and never 0. 0
 * without a request if only the final message is judged and it is missing. Does not apply to a task without an answer
 * if the template uses one.
 */
@reward({
  name: 'model_judge',
  description: 'Score from 0 to 1 that a model on an OpenAI-compatible server gives the episode',
  settings: ModelJudgeSettings,
  blind: (settings) => !partsOf((settings as ModelJudgeSettings).template).has('reference'),
  open: async (settings, { environment }) =>
    new JudgeClient(settings as ModelJudgeSettings, environment),
})
export class ModelJudge {
  constructor(
    private readonly given: { shared: Pick<JudgeClient, 'judge'>; settings: ModelJudgeSettings },
  ) {}

  async score({ task, messages }: EpisodeView): Promise<number | undefined> {
    const { shared, settings } = this.given;
    const prompt = judgePrompt({ task, messages }, settings);
    if (prompt === undefined) return undefined;
    const wholeShown = partsOf(settings.template).has('conversation');
    if (!wholeShown && finalAnswer(messages) === undefined) return 0;
    return shared.judge(prompt, task.taskId);
  }
}
