import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { formName, trainedForms, unseenForms } from '#dataset/workspace_tasks/generator/form.ts';
import { relationsOf, thingsOf } from '#dataset/workspace_tasks/generator/names.ts';
import * as rowsOf from '#dataset/workspace_tasks/generator/rows.ts';
import * as steps from '#dataset/workspace_tasks/generator/step.ts';
import * as tableOf from '#dataset/workspace_tasks/generator/table.ts';
import * as tasks from '#dataset/workspace_tasks/generator/task.ts';
import { walk } from '#dataset/workspace_tasks/generator/world.ts';
import { planOf } from '#dataset/workspace_tasks/teacher/plan.ts';
import { WorkspaceTasks } from '#dataset/workspace_tasks/workspace-tasks.ts';
import { describeTaskGeneratorContract } from '#tests/contracts/task-generator-contract.ts';

const { evalRows, sliceNames, trainedChain, trainRow } = rowsOf;
const { isUnseenPair, stepName, trainedSteps, unseenSteps } = steps;
const { drawQuestion, phrase, shortCuts } = tasks;

test.each([thingsOf, relationsOf])(
  'the names differ between warm-up, training and evaluation',
  (of) => {
    const all = [...of.warmUp, ...of.train, ...of.eval];
    expect(new Set(all).size).toBe(all.length);
    for (const share of [of.warmUp, of.train, of.eval]) expect(share.length).toBeGreaterThan(60);
  },
);

describe('The steps', () => {
  test('differ between training and the unseen forms', () => {
    expect([trainedForms.length, unseenForms.length]).toEqual([10, 5]);
    expect(new Set([...trainedForms, ...unseenForms].map(formName)).size).toBe(15);
    const all = [trainedSteps, unseenSteps].flatMap((each) => Object.values(each).flat());
    // 15 forms of relations, and 24 of tables for each of two questions.
    expect(new Set(all.map(stepName)).size).toBe(15 + 2 * 24);
    expect([trainedSteps.largest.length, unseenSteps.largest.length]).toEqual([15, 9]);
  });

  test('reuse trained holders and styles of names in unseen forms', () => {
    for (const { holder, keys } of unseenForms) {
      expect(trainedForms.some((form) => form.holder === holder)).toBe(true);
      expect(trainedForms.some((form) => form.keys === keys)).toBe(true);
    }
  });

  test('never follow one another in training for one pair in five', () => {
    const { relation: relations, largest, total } = trainedSteps;
    const pairs = [...relations, ...largest].flatMap((first) =>
      [...relations, ...total].map((second) => [first, second] as const),
    );
    const unseen = pairs.filter(([first, second]) => isUnseenPair(first, second));
    expect(unseen.length).toBe(pairs.length / 5);
    for (let index = 0; index < 200; index++) {
      const chain = trainedChain(2 + (index % 3), new KeyedRng(index));
      const next = chain.slice(1);
      expect(next.some((step, at) => isUnseenPair(chain[at]!, step))).toBe(false);
    }
  });
});

describe('shortCuts', () => {
  test('lists what lies on the way, other relations, parts of the chain and the chain backwards', () => {
    const relation = (name: string, ...values: [string, string][]): steps.RelationStep => ({
      kind: 'relation',
      name,
      form: { holder: 'dict', keys: 'same' },
      values: new Map(values),
    });
    const first = relation('jaf', ['a', 'b'], ['b', 'c'], ['c', 'f']);
    const second = relation('zof', ['a', 'c'], ['b', 'd'], ['c', 'a']);
    const spare = [relation('vug', ['a', 'e'])];
    const chain = [first, second];
    const world = { things: ['a', 'b', 'c', 'd', 'e', 'f'], chain, spare };
    expect(phrase('a', chain)).toBe('the zof of the jaf of a');
    expect(walk('a', chain)).toEqual(['a', 'b', 'd']);
    // Itself, jaf of it, zof of it, vug of it, and jaf of its zof.
    expect([...shortCuts('a', world)].toSorted()).toEqual(['a', 'b', 'c', 'e', 'f']);
  });

  test('never contains the answer of a question', () => {
    for (let index = 0; index < 80; index++) {
      const forms = trainedChain(1 + (index % 4), new KeyedRng('forms', index));
      const { start, answer, world, other } = drawQuestion(forms, 'train', new KeyedRng(index));
      expect(walk(start, world.chain).at(-1)).toBe(answer);
      expect(shortCuts(start, world)).not.toContain(answer);
      expect(other.answer).not.toBe(answer);
    }
  });
});

describe('The data set', () => {
  test('gives the same question for the same seed and place, and another one otherwise', () => {
    expect(trainRow(1, 5)).toEqual(trainRow(1, 5));
    const questions = [trainRow(1, 5), trainRow(1, 6), trainRow(2, 5)].map((row) => row.question);
    expect(new Set(questions).size).toBe(3);
  });

  test('trains on two steps, and on three in two of five questions', () => {
    const depths = Array.from({ length: 400 }, (_, index) => trainRow(4, index).depth);
    expect(new Set(depths)).toEqual(new Set([2, 3]));
    expect(Math.abs(depths.filter((depth) => depth === 3).length - 160)).toBeLessThan(35);
  });

  test('trains on names and pairs that the evaluation does not have', () => {
    const trained = Array.from({ length: 200 }, (_, index) => trainRow(3, index));
    const held = evalRows(20);
    const namesIn = (rows: readonly { question: string }[]) =>
      new Set(rows.flatMap(({ question }) => question.match(/[A-Za-z]+/g) ?? []));
    const common = [...namesIn(trained)].filter((word) => namesIn(held).has(word));
    expect(common.toSorted().join(' ')).toBe('What csv in is json largest of the total where with');
    const kept = held.filter(({ slice }) => slice === 'unseen pairs');
    const unseen = new Set(kept.map((row) => row.family));
    expect(trained.filter(({ family }) => unseen.has(family))).toEqual([]);
  });

  test('asks for the number of steps that its slice names', () => {
    const depths = new Map(evalRows(3).map(({ slice, depth }) => [slice, depth]));
    expect([...depths.keys()]).toEqual(sliceNames);
    expect([...depths.values()]).toEqual([2, 2, 1, 3, 4, 2]);
  });

  test('asks for one unseen form in each question of the slice for unseen forms', () => {
    const unseen = new Set(Object.values(unseenSteps).flat().map(stepName));
    for (const { family } of evalRows(30, ['unseen forms']))
      expect(family.split('+').filter((form) => unseen.has(form))).toHaveLength(1);
  });
});

describe('A plan', () => {
  const asked = (...kinds: readonly steps.Step['kind'][]) => {
    const forms = kinds.map((kind) => trainedSteps[kind][0]!);
    const question = drawQuestion(forms, 'train', new KeyedRng(5));
    const { chain } = question.world;
    const text = tasks.rowOf(question, { id: 'task' }).question;
    return { chain, text, first: planOf(chain, question.start), start: question.start };
  };

  test('repeats the question as far as it is open, and what is known of its end', () => {
    const { chain, start, text, first } = asked('relation', 'relation', 'relation');
    const [, c, b, a] = /the (\w+) of the (\w+) of the (\w+) of/.exec(text) ?? [];
    expect(first).toBe(`${c} of the ${b} of the ${a} of ${start} = ${start} .`);
    const second = planOf(chain.slice(1), 'Velmora', chain[0]);
    expect(second).toBe(`${c} of the ${b} of the ${a} = Velmora .`);
    expect(planOf(chain.slice(2), 'Duri', chain[1])).toBe(`${c} of the ${b} = Duri .`);
  });

  test('has what is asked of files in the words of the question', () => {
    const { chain, text, first } = asked('largest', 'relation', 'total');
    const [, whole, total, relation] =
      /the ((total \w+ in \S+ where \w+) is the (\w+) of the .*) \?/.exec(text) ?? [];
    expect(first).toBe(`${whole} .`);
    expect(planOf(chain.slice(1), 'Velmora', chain[0])).toBe(`${whole} = Velmora .`);
    expect(planOf(chain.slice(2), 'Duri', chain[1])).toBe(`${total} is the ${relation} = Duri .`);
  });

  test('ends with the answer beside what was asked for', () => {
    const { chain } = asked('relation', 'total');
    expect(planOf([], '12.5', chain[1])).toMatch(/^total \w+ in \S+ where \w+ = 12\.5 \.$/);
  });
});

const rows = [
  { thing: 'Tam', number: 125, other: 30 },
  { thing: 'Vel', number: 990, other: 10 },
  { thing: 'Tam', number: 5, other: 999 },
];

const names = ['mov', 'kel', 'jat', 'zib', 'vex'] as const;

const table = (
  form: Partial<tableOf.TableForm>,
  given: Partial<tableOf.Table> = {},
): tableOf.Table => ({
  ...tableOf.makeTable(
    { layout: 'comma', header: true, decimals: 'point', ...form },
    names,
    rows,
    new KeyedRng(1),
  ),
  columns: ['kel', 'jat'],
  quoted: false,
  ...given,
});

describe('A table', () => {
  const objects = (...numbers: string[]) =>
    numbers.map((jat, at) => `{"kel": "${at === 1 ? 'Vel' : 'Tam'}", "jat": ${jat}}`).join(', ');
  const nested = { layout: 'nested', decimals: 'comma' } as const;
  test.each<[Partial<tableOf.TableForm>, Partial<tableOf.Table>, string]>([
    [{}, {}, 'kel,jat\nTam,12.5\nVel,99.0\nTam,0.5\n'],
    [{ layout: 'semicolon', header: false }, {}, 'Tam;12.5\nVel;99.0\nTam;0.5\n'],
    [{ decimals: 'comma' }, {}, 'kel,jat\nTam,"12,5"\nVel,"99,0"\nTam,"0,5"\n'],
    [{ layout: 'bar' }, { quoted: true }, '"kel"|"jat"\n"Tam"|"12.5"\n"Vel"|"99.0"\n"Tam"|"0.5"\n'],
    [{ layout: 'spaces', header: false }, {}, 'Tam   12.5\nVel   99.0\nTam   0.5\n'],
    [{ layout: 'list' }, {}, `[${objects('12.5', '99', '0.5')}]`],
    [nested, {}, `{"vex": [${objects('"12,5"', '"99,0"', '"0,5"')}]}`],
  ])('is written in the form %j with %j', (form, given, text) => {
    expect(tableOf.tableText(table(form, given))).toBe(text);
  });

  test('has a second column of numbers if it has a header', () => {
    const rng = new KeyedRng(1);
    const made = (header: boolean) =>
      tableOf.makeTable({ layout: 'tab', header, decimals: 'point' }, names, rows, rng).columns;
    expect([...made(true)].toSorted()).toEqual(['jat', 'kel', 'zib']);
    expect([...made(false)].toSorted()).toEqual(['jat', 'kel']);
  });

  test('is read by a program of its form', () => {
    const plain = table({});
    expect(tableOf.largestCode(plain, plain.form)).toBe(
      "max(csv.DictReader(open('mov.csv')), key=lambda r: float(r['jat']))['kel']",
    );
    const bare = table({ layout: 'tab', header: false, decimals: 'comma' });
    expect(tableOf.totalCode(bare, bare.form, 'Tam')).toBe(
      String.raw`round(sum(float(r[1].replace(',', '.')) for r in csv.reader(open('mov.csv'), delimiter='\t') if r[0] == 'Tam'), 1)`,
    );
  });

  test('leads to its largest thing and to the sum of a thing, and misreadings lead elsewhere', () => {
    const largest: steps.TableStep = { kind: 'largest', table: table({}) };
    expect(steps.follow('', largest)).toBe('Vel');
    // The largest of the other column, the smallest, the first row, the last.
    expect(steps.misreadings(largest, '')).toEqual(['Tam', 'Tam', 'Tam', 'Tam']);
    const total: steps.TableStep = { kind: 'total', table: table({}) };
    expect(steps.follow('Tam', total)).toBe('13.0');
    // The other column, all rows, single rows, no number at all, the other thing.
    expect(steps.misreadings(total, 'Tam').join(' ')).toBe('102.9 112.0 12.5 0.5 Tam Vel 99.0');
  });
});

const create = (slices = ['unseen pairs'], evalTasks = 5) =>
  new WorkspaceTasks({ settings: { slices, evalTasks } });

describeTaskGeneratorContract('workspace', { plugin: WorkspaceTasks, create, tasks: 64 });

test('the generator makes the rows that make-workspace writes, headline first, then each named slice', () => {
  expect(create().train(3, 8)).toEqual(trainRow(3, 8));
  const slices = sliceNames.filter((name) => name !== undefined);
  expect(create(slices, 2).evaluation()).toEqual(evalRows(2));
  const made = create(['four steps', 'one step'], 2).evaluation();
  const named = [undefined, 'one step', 'four steps'];
  expect(made.map(({ slice }) => slice)).toEqual(named.flatMap((slice) => [slice, slice]));
  expect(create([], 2).evaluation()).toEqual(evalRows(2).slice(0, 2));
});
