import { expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { type StepForm, trainedSteps } from '#dataset/workspace_tasks/generator/step.ts';
import { drawQuestion, rowOf } from '#dataset/workspace_tasks/generator/task.ts';
import { planOf } from '#dataset/workspace_tasks/teacher/plan.ts';

const asked = (kinds: readonly StepForm['kind'][]) => {
  const forms = kinds.map((kind) => trainedSteps[kind][0]!);
  const question = drawQuestion(forms, 'train', new KeyedRng(5));
  return { ...question, text: rowOf(question, { id: 'task' }).question };
};

test('a plan repeats the question as far as it is open, and what is known of its end', () => {
  const { world, start, text } = asked(['relation', 'relation', 'relation']);
  const [, third, second, first] = /the (\w+) of the (\w+) of the (\w+) of/.exec(text) ?? [];
  const [one, two] = world.chain;
  expect(planOf(world.chain, start)).toBe(
    `${third} of the ${second} of the ${first} of ${start} = ${start} .`,
  );
  expect(planOf(world.chain.slice(1), 'Velmora', one)).toBe(
    `${third} of the ${second} of the ${first} = Velmora .`,
  );
  expect(planOf(world.chain.slice(2), 'Duri', two)).toBe(`${third} of the ${second} = Duri .`);
});

test('a plan has what is asked of files in the words of the question', () => {
  const { world, start, text } = asked(['largest', 'relation', 'total']);
  const [, whole, total, relation] =
    /the ((total \w+ in \S+ where \w+) is the (\w+) of the .*) \?/.exec(text) ?? [];
  const [first, second] = world.chain;
  expect(planOf(world.chain, start)).toBe(`${whole} .`);
  expect(planOf(world.chain.slice(1), 'Velmora', first)).toBe(`${whole} = Velmora .`);
  expect(planOf(world.chain.slice(2), 'Duri', second)).toBe(`${total} is the ${relation} = Duri .`);
});

test('a plan ends with the answer beside what was asked for', () => {
  const { world } = asked(['relation', 'total']);
  const [, last] = world.chain;
  expect(planOf([], '12.5', last)).toMatch(/^total \w+ in \S+ where \w+ = 12\.5 \.$/);
});
