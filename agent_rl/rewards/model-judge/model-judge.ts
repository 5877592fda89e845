import { type EpisodeView, reward } from '../../core/plugins/reward.ts';
import { finalAnswer } from '../final-answer.ts';
import { JudgeClient } from './judge-client.ts';
import { judgePrompt, partsOf } from './judge-prompt.ts';
import { ModelJudgeSettings } from './settings.ts';

/**
 * What a model says of an episode, from 0 to 1, after "LLM as a judge" (Zheng et al. 2023,
 * https://arxiv.org/abs/2306.05685). A judge that fails, or says what holds no score, is a grader error and never 0. 0
 * without asking where only the final message is judged and there is none. Does not apply to a task without an answer
 * where the template asks for one.
 */
@reward({
  name: 'model_judge',
  description:
    'Score that a model behind an OpenAI-compatible server gives the episode, from 0 to 1',
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
