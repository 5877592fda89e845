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

test('a plan names what was found and the relations left, the next one first', () => {
  const { world, start, text } = asked(['relation', 'relation', 'relation']);
  const [, third, second, first] = /the (\w+) of the (\w+) of the (\w+) of/.exec(text) ?? [];
  expect(planOf(world.chain, start)).toBe(`${start} : ${first} , ${second} , ${third} .`);
  expect(planOf(world.chain.slice(2), 'Velmora')).toBe(`Velmora : ${third} .`);
});

test('a plan has what is asked of files in the words of the question', () => {
  const { world, start, text } = asked(['largest', 'relation', 'total']);
  const [, total, relation, largest] =
    /the (total \w+ in \S+ where \w+) is the (\w+) of the (.*) \?/.exec(text) ?? [];
  expect(planOf(world.chain, start)).toBe(`${largest} , ${relation} , ${total} .`);
  expect(planOf(world.chain.slice(1), 'Velmora')).toBe(`Velmora : ${relation} , ${total} .`);
});

test('at the end of a plan is what was found alone', () => {
  expect(planOf([], '12.5')).toBe('12.5 .');
});
