import { type Static, Type } from '../../core/typebox.ts';
import { choice, integer, number, text, variable, within } from '../../config/blocks/block.ts';
import { webProperties } from '../../search/web/index.ts';

const mostScore = 1e6;

const defaultInstruction =
  'You judge the work of an agent. Compare its final answer with the reference answer: give the highest score when it is right and complete, the lowest when it is wrong or missing, and a score between them when it is partly right.';

const defaultTemplate = `Task:
{task}

Reference answer:
{reference}

What the agent said and did:
{conversation}`;

/** `type: model_judge` under `rewards:`. */
export const ModelJudgeSettings = Type.Object({
  url: text('Base URL of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1', {
    pattern: '^https?://',
  }),
  model: text('Name of the judge model on that server', { minLength: 1 }),
  apiKeyEnv: variable('Environment variable with the API key'),
  instruction: text('System message: what to judge and how', {
    minLength: 1,
    default: defaultInstruction,
  }),
  template: text(
    'Template of the user message. Placeholders: {task}, {reference}, {conversation}, {answer} (the final message). If it has {reference}, tasks without a reference answer are not judged',
    { minLength: 1, default: defaultTemplate },
  ),
  lowest: number(
    'Lowest score that the judge may give; it becomes a reward of 0',
    within(-mostScore, mostScore, 0),
  ),
  highest: number(
    'Highest score that the judge may give; it becomes a reward of 1',
    within(-mostScore, mostScore, 10),
  ),
  reply: choice(
    "Form of the judge's answer: a JSON object enforced by the server, a JSON object by instruction, or a bare number",
    ['json_schema', 'json', 'number'],
    'json_schema',
  ),
  temperature: number('Sampling temperature of the judge', within(0, 10, 0)),
  maxTokens: integer("Token limit of the judge's answer", within(1, 1e6, 512)),
  maxChars: integer(
    'Character limit of the conversation or the answer in the prompt; the middle of longer texts is omitted',
    within(200, 1e7, 20_000),
  ),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: 'Further request parameters, such as seed',
  }),
  ...webProperties,
  timeoutS: number('Time limit of one attempt to ask the judge', within(0.01, 600, 60)),
  deadlineS: number(
    'Seconds for all attempts and the pauses between them; waiting for the rate limit does not count. rollout.deadlines.gradingS limits all rewards of an episode together',
    within(0.01, 3600, 100),
  ),
});
export type ModelJudgeSettings = Static<typeof ModelJudgeSettings>;
