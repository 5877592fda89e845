import { readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import { jsonLines } from '#dataset/tables/json-lines.ts';
import { printed } from '#dataset/code_tasks/generator/atom.ts';
import * as all from '#dataset/code_tasks/generator/families.ts';
import { parametersOf } from '#dataset/code_tasks/generator/parameters.ts';
import { evaluate, wrongChoices } from '#dataset/code_tasks/generator/program.ts';
import { normalisePrompt } from '#dataset/code_tasks/generator/prompt.ts';
import { generateRows, shippedSeed } from '#dataset/code_tasks/generator/rows.ts';
import { sources } from '#dataset/code_tasks/generator/atoms/sources.ts';
import { generateTask } from '#dataset/code_tasks/generator/task.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';

const { atoms, families, heldOutFamilies, trainFamilies } = all;
const fileOf = (split: string): string =>
  path.join(packageRoot(), 'dataset/code_tasks', `${split}.jsonl`);
const train = await CodeTaskDataset.fromPath(fileOf('train'));
const evaluation = await CodeTaskDataset.fromPath(fileOf('eval'));
const both = [...train.tasks, ...evaluation.tasks];
const column = (dataset: CodeTaskDataset, key: string): unknown[] =>
  dataset.tasks.map((task) => task.metadata[key]);

const partNames = ({ sourceName, steps }: all.Family): string[] =>
  [sourceName].concat(steps.map((step) => step.name));

describe('The shipped task files', () => {
  test.each(['train', 'eval'] as const)('hold in %s.jsonl what the generator writes', (split) => {
    expect(jsonLines(generateRows(split, shippedSeed))).toBe(readFileSync(fileOf(split), 'utf8'));
  });

  test('repeat no prompt', () => {
    expect(new Set(both.map((task) => normalisePrompt(task.prompt))).size).toBe(both.length);
  });

  test('train on no parameters that a slice evaluates, and on no held-out family', () => {
    const signatures = new Set(column(train, 'signature'));
    const sliced = evaluation.tasks.filter(({ metadata }) => metadata['slice'] !== undefined);
    expect(sliced.filter(({ metadata }) => signatures.has(metadata['signature']))).toEqual([]);
    const trained = new Set(column(train, 'family'));
    expect(heldOutFamilies.filter((family) => trained.has(family.name))).toEqual([]);
    expect(heldOutFamilies.flatMap((family) => parametersOf(family, 'trained'))).toEqual([]);
  });
});

describe('The families', () => {
  test('use every source and every atom', () => {
    const used = new Set(families.flatMap(partNames));
    const names = [sources, ...Object.values(atoms)].flatMap((table) => Object.keys(table));
    expect(names.filter((name) => !used.has(name))).toEqual([]);
  });

  test('combine only trained parts where they are held out', () => {
    const trained = new Set(trainFamilies.flatMap(partNames));
    const parts = heldOutFamilies.flatMap(partNames);
    expect(parts.filter((name) => !trained.has(name))).toEqual([]);
  });

  test('contain one or two parts each that the teacher usually gets wrong', () => {
    for (const { source, steps } of families) {
      const parts = [source, ...steps.map((step) => step.atom)];
      const tricky = parts.filter((part) => part.tricky).length;
      expect([1, 2]).toContain(tricky);
    }
  });

  test.each(families)(
    '$name: every wrong program fails a hidden case, and no case raises',
    (family) => {
      const [parameters = []] = parametersOf(family, 'unseen');
      const shape = { family, parameters, mode: 'calls' } as const;
      const { cases } = generateTask(shape, new KeyedRng('test'));
      for (const choice of wrongChoices(family)) {
        const failed = cases.hidden.filter(
          ({ args, expected }) => printed(evaluate(shape, choice, args)) !== printed(expected),
        );
        expect(failed).not.toHaveLength(0);
      }
    },
  );
});
