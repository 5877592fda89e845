import { type Static, Type } from 'typebox';

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
  url: text('Base URL of a server with the OpenAI API, such as http://127.0.0.1:8000/v1', {
    pattern: '^https?://',
  }),
  model: text('The model that judges, by its name on that server', { minLength: 1 }),
  apiKeyEnv: variable('Environment variable that holds the key'),
  instruction: text('What is judged and how, as the system message', {
    minLength: 1,
    default: defaultInstruction,
  }),
  template: text(
    'The user message; {task}, {reference}, {conversation} and {answer} (the final message) stand for what is judged. A task without an answer is not judged where {reference} is used',
    { minLength: 1, default: defaultTemplate },
  ),
  lowest: number(
    'The lowest score that the judge may give; it becomes 0',
    within(-mostScore, mostScore, 0),
  ),
  highest: number(
    'The highest score that the judge may give; it becomes 1',
    within(-mostScore, mostScore, 10),
  ),
  reply: choice(
    'What the judge answers with: an object that the server holds to a JSON Schema (reason, score), such an object unasked, or a bare number',
    ['json_schema', 'json', 'number'],
    'json_schema',
  ),
  temperature: number('Of the judge; at 0 it says the same of the same', within(0, 10, 0)),
  maxTokens: integer('Most tokens of its answer', within(1, 1e6, 512)),
  maxChars: integer(
    'Most characters of the conversation or the answer that it is shown; what is left out of the middle is said',
    within(200, 1e7, 20_000),
  ),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: 'Further parameters of the request, such as seed',
  }),
  ...webProperties,
  timeoutS: number('Seconds one attempt may take, to its last byte', within(0.01, 600, 60)),
  deadlineS: number(
    'Seconds for all attempts and the pauses between them; waiting for the rate limit does not count. rollout.deadlines.gradingS limits all rewards of an episode together',
    within(0.01, 3600, 100),
  ),
});
export type ModelJudgeSettings = Static<typeof ModelJudgeSettings>;
