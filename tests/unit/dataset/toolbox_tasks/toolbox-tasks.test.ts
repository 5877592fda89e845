import { isDeepStrictEqual } from 'node:util';

import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';

import { answerWords, mentionsAnswer } from '#agent_rl/core/tasks/answer-match.ts';
import { answersTo } from '#agent_rl/core/tasks/toolbox.ts';
import { newOperations, trainedOperations } from '#dataset/toolbox_tasks/generator/texts.ts';
import {
  trainedTask,
  type ToolboxTaskSettings,
  ToolboxTasks,
} from '#dataset/toolbox_tasks/toolbox-tasks.ts';
import { describeTaskGeneratorContract } from '#tests/contracts/task-generator-contract.ts';
import * as fc from '#tests/support/properties.ts';

type Row = ReturnType<ToolboxTasks['evaluation']>[number];

const sliceNames = ['new names', 'new operations', 'new shapes', 'more tools'];

const usual: ToolboxTaskSettings = {
  slices: sliceNames,
  evalTasks: 5,
  tools: 'random',
  trainOn: 'trained',
  removedShare: 0.1,
  perturb: 'none',
};
const create = (settings: Partial<ToolboxTaskSettings> = {}) =>
  new ToolboxTasks({ settings: { ...usual, ...settings } });

describeTaskGeneratorContract('toolbox', { plugin: ToolboxTasks, create, tasks: 64 });

const propertiesOf = ({ parameters }: Row['tools'][number]) =>
  (parameters as unknown as { properties: object }).properties;
const promptOf = ({ question, tools }: Pick<Row, 'question' | 'tools'>): string =>
  [question, ...tools.map(({ name, description }) => `${name}: ${description}`)].join('\n');
const ajv = new Ajv({ strict: false });

/** What every task promises. */
function expectSolvable(row: Omit<Row, 'task_id' | 'slice'>): void {
  const names = row.tools.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, arguments: args } of row.calls) {
    const tool = row.tools.find((one) => one.name === name)!;
    expect(ajv.validate(tool.parameters, args)).toBe(true);
  }
  expect(answersTo(row).at(-1) ?? 'no tool').toBe(row.answer);
  const prompt = promptOf(row);
  expect(mentionsAnswer(prompt, [row.answer])).toBe(false);
}

const operationsNamedIn = (row: Omit<Row, 'task_id' | 'slice'>): string[] =>
  [...trainedOperations, ...newOperations].filter((name) => promptOf(row).includes(name));

test('every task is solved by its calls, and its prompt gives away neither answer nor operation', () => {
  const trainOn = fc.constantFrom('trained', ...sliceNames);
  const drawn = fc.record({
    seed: fc.nat(),
    index: fc.nat(),
    settings: fc.record({
      trainOn,
      tools: fc.constantFrom('random', 'fixed'),
      removedShare: fc.constantFrom(0, 1),
    }),
  });
  fc.assert(
    fc.property(drawn, ({ seed, index, settings }) => {
      const row = create(settings).train(seed, index);
      expectSolvable(row);
      expect(operationsNamedIn(row)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test.each(['none', 'removed', 'lying', 'renamed', 'plain', 'wordy'] as const)(
  'every task of the evaluation with perturb %s is solved by its calls',
  (perturb) => {
    for (const tools of ['random', 'fixed'] as const)
      for (const row of create({ evalTasks: 20, tools, perturb }).evaluation()) {
        expectSolvable(row);
        // Plain names say what they are, and no other names do.
        expect(operationsNamedIn(row).length > 0).toBe(perturb === 'plain');
      }
  },
);

const many = Array.from({ length: 1000 }, (_, index) => create().train(3, index));
const held = create({ evalTasks: 60 }).evaluation();
const ofSlice = (slice: string | undefined): Row[] => held.filter((row) => row.slice === slice);
const operationsOf = (rows: readonly Pick<Row, 'tools'>[]) =>
  new Set(rows.flatMap(({ tools }) => tools.map(({ operation }) => operation)));
const shapeOf = (row: Omit<Row, 'slice'>): string[] =>
  row.tools.map((tool) => {
    const { paths } = tool;
    const properties = propertiesOf(tool);
    const kinds = new Set(Object.values(properties).map((one) => (one as { type?: unknown }).type));
    if (kinds.has('object')) return 'nested';
    if (kinds.has('array')) return 'list';
    return Object.keys(properties).length > Object.keys(paths).length ? 'optional' : 'flat';
  });
const wordsOf = (row: Pick<Row, 'tools'>): string[] =>
  row.tools.flatMap((tool) => [tool.name, ...Object.keys(propertiesOf(tool))]);

describe('Training', () => {
  test('has no new operation, no new argument shape, no new name and at most six tools', () => {
    expect([...operationsOf(many)].toSorted()).toEqual(trainedOperations.toSorted());
    expect(new Set(many.flatMap(shapeOf))).toEqual(new Set(['flat']));
    const counts = new Set(
      many.filter(({ calls }) => calls.length > 0).map(({ tools }) => tools.length),
    );
    expect([...counts].toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6]);
    const words = new Set([...many, ...ofSlice(undefined)].flatMap(wordsOf));
    expect(
      ofSlice('new names')
        .flatMap(wordsOf)
        .filter((word) => words.has(word)),
    ).toEqual([]);
  });

  test('shares no thing and no first number with the evaluation, and none with the warm-up', () => {
    const things = (questions: readonly string[]) =>
      new Set(questions.flatMap((text) => text.match(/\b[A-Z][a-z]{5}\b/g) ?? []));
    const warmUp = Array.from({ length: 500 }, (_, index) => {
      const { question } = trainedTask(usual, 'warm-up', 3, index);
      return question;
    });
    const [train, evaluation] = [many, held].map((rows) => rows.map(({ question }) => question));
    const all = [things(train!), things(evaluation!), things(warmUp)];
    const together = all.reduce((some, one) => new Set(Array.from(some).concat(Array.from(one))));
    expect(together.size).toBe(all.reduce((sum, { size }) => sum + size, 0));
    const sums = (questions: readonly string[]) =>
      questions.flatMap((text) => /is (\d+) (?:plus|minus|times)/.exec(text)?.[1] ?? []);
    expect(sums(evaluation!).every((number) => Number(number) % 11 === 0)).toBe(true);
    expect(sums(train!).some((number) => Number(number) % 11 === 0)).toBe(false);
  });

  test('leaves the tool out of the share of its tasks that removedShare says', () => {
    const missing = many.filter(({ calls }) => calls.length === 0);
    expect(missing.length).toBeGreaterThan(60);
    expect(missing.length).toBeLessThan(140);
    expect(new Set(missing.map(({ answer }) => answer))).toEqual(new Set(['no tool']));
  });

  test('is of a slice if trainOn names it, with other questions than the evaluation of the slice', () => {
    const generator = create({ trainOn: 'new operations', tools: 'fixed', removedShare: 0 });
    const rows = Array.from({ length: 200 }, (_, index) => generator.train(1, index));
    const asked = new Set(rows.flatMap(({ family }) => family.split(', ')));
    expect(newOperations.every((name) => asked.has(name))).toBe(true);
    const questions = new Set(ofSlice('new operations').map(({ question }) => question));
    expect(rows.filter(({ question }) => questions.has(question))).toEqual([]);
  });
});

describe('The evaluation', () => {
  test('has each slice with what only it has', () => {
    expect([...operationsOf(ofSlice(undefined))].toSorted()).toEqual(trainedOperations.toSorted());
    for (const { family } of ofSlice('new operations'))
      expect(newOperations.some((name) => family.includes(name))).toBe(true);
    const shapes = new Set(ofSlice('new shapes').flatMap(shapeOf));
    expect(shapes).toEqual(new Set(['optional', 'nested', 'list']));
    const counts = new Set(ofSlice('more tools').map(({ tools }) => tools.length));
    expect([...counts].toSorted((a, b) => a - b)).toEqual([8, 9]);
  });

  test('asks evalTasks questions of the headline and of each named slice', () => {
    const rows = create({ slices: ['more tools'], evalTasks: 2 }).evaluation();
    expect(rows.map(({ slice }) => slice)).toEqual([
      undefined,
      undefined,
      'more tools',
      'more tools',
    ]);
  });
});

const faces = (rows: readonly Pick<Row, 'tools'>[], operation: string) =>
  rows.flatMap(({ tools }) =>
    tools.flatMap(({ operation: own, name, description, parameters }) =>
      own === operation ? [JSON.stringify([name, description, parameters])] : [],
    ),
  );

test('fixed tools are the same in all tasks, and random ones are not', () => {
  const slices = ['new operations', 'new names'];
  const fixed = create({ evalTasks: 60, slices, tools: 'fixed' }).evaluation();
  const known = fixed.filter(({ slice }) => slice !== 'new names');
  for (const name of [...trainedOperations, ...newOperations])
    expect(new Set(faces(known, name)).size).toBe(1);
  const own = fixed.filter(({ slice }) => slice === 'new names');
  expect(new Set(faces(own, 'read_box')).size).toBeGreaterThan(5);
  expect(new Set(faces(many, 'read_box')).size).toBeGreaterThan(100);
});

describe('A perturbed task', () => {
  const of = (perturb: ToolboxTaskSettings['perturb']) =>
    create({ perturb, slices: [], evalTasks: 40, tools: 'fixed' }).evaluation();
  const plain = of('none');

  test('asks the same question', () => {
    for (const perturb of ['removed', 'lying', 'renamed', 'plain', 'wordy'] as const)
      expect(of(perturb).map(({ question }) => question)).toEqual(
        plain.map(({ question }) => question),
      );
  });

  test('lacks the tool that gives the answer, or has it with another value or other names', () => {
    const last = plain.map(({ calls }) => calls.at(-1)!.name);
    const rows = [of('removed'), of('lying'), of('renamed')] as const;
    for (const [at, row] of rows[0].entries()) {
      expect(row.tools.map(({ name }) => name)).not.toContain(last[at]);
      expect(row).toMatchObject({ answer: 'no tool', calls: [] });
    }
    for (const [at, row] of rows[1].entries()) {
      expect(answerWords(row.answer)).not.toEqual(answerWords(plain[at]!.answer));
      expect(row.tools.filter(({ lies }) => lies).map(({ name }) => name)).toEqual([last[at]]);
    }
    const pairs = rows[2].flatMap((row, at) => {
      expect(row.answer).toBe(plain[at]!.answer);
      const before = new Map(plain[at]!.tools.map((tool) => [tool.operation, tool]));
      return row.tools.map((tool) => [tool, before.get(tool.operation)!] as const);
    });
    // Names are drawn again, each the same in 1 of 64 draws by chance.
    const sameOf = (part: (tool: Row['tools'][number]) => unknown): number =>
      pairs.filter(([tool, before]) => isDeepStrictEqual(part(tool), part(before))).length;
    expect(sameOf(({ name }) => name)).toBeLessThan(pairs.length / 20);
    expect(sameOf((tool) => Object.keys(propertiesOf(tool)))).toBeLessThan(pairs.length / 20);
  });

  test('has tools and arguments that say what they are, or longer descriptions', () => {
    for (const { tools } of of('plain'))
      for (const tool of tools) {
        const { name, operation, paths } = tool;
        expect(name).toBe(operation);
        expect(Object.keys(propertiesOf(tool)).toSorted()).toEqual(Object.keys(paths).toSorted());
      }
    for (const [at, row] of of('wordy').entries())
      for (const [place, { name, description }] of row.tools.entries()) {
        const before = plain[at]!.tools[place]!;
        expect(name).toBe(before.name);
        expect(description.startsWith(`${before.description} `)).toBe(true);
        expect(description.length).toBeGreaterThan(3 * before.description.length);
      }
  });
});
