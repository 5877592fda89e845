import { describe, expect, test } from '@jest/globals';

import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { type TaskGenerator, taskGenerators } from '../../agent_rl/core/tasks/task-generator.ts';
import { evaluationTasks, trainingTasks } from '../../dataset/tasks/generated-tasks.ts';
import { expectSpec } from './contract-parts.ts';

export interface TaskGeneratorContract {
  /** The class that carries the mark. */
  plugin: unknown;
  /** Makes one as each session of a run does, with the same settings each time. */
  create: () => TaskGenerator;
  /** Training tasks that are compared with one another and with the evaluation; 256 by default. */
  tasks?: number;
}

const seeds = [0, 1, 42] as const;
/** In no order, and as far out as a run may ask. */
const indexes = [7, 0, 2 ** 31, 3, 2 ** 33 + 5, 1] as const;

/** What every task generator promises. Call it from the test of each one. */
export function describeTaskGeneratorContract(name: string, contract: TaskGeneratorContract): void {
  const { plugin, create, tasks = 256 } = contract;
  const spec = taskGenerators.specOf(plugin);
  const { taskFormat: format = '', version = 0 } = spec ?? {};
  const generated = (seed: number) => ({ name, version, format, seed, generator: create() });
  const trained = (seed: number): Task[] => {
    const { taskAt } = trainingTasks(generated(seed));
    return Array.from({ length: tasks }, (_, index) => taskAt(index));
  };

  describe(`${name} keeps the TaskGenerator contract`, () => {
    test('is marked with a spec whose settings do not take the name type', () => {
      expect(taskGenerators.problemsOf(plugin)).toEqual([]);
      expectSpec(spec);
    });

    test('makes the same training task for a seed and an index, whatever was made before', () => {
      const first = create();
      const keys = seeds.flatMap((seed) => indexes.map((index) => [seed, index] as const));
      const rows = keys.map(([seed, index]) => structuredClone(first.train(seed, index)));
      const second = create();
      const again = keys.toReversed().map(([seed, index]) => second.train(seed, index));
      expect(again.toReversed()).toEqual(rows);
      expect(keys.map(([seed, index]) => first.train(seed, index))).toEqual(rows);
    });

    test('makes different tasks for other indexes, each with its own id, and for other seeds', () => {
      const [one, other] = [trained(1), trained(2)];
      // Of two tasks with one id `trainingTasks` throws.
      expect(new Set(one.map(({ taskId }) => taskId)).size).toBe(tasks);
      const texts = ({ prompt, metadata }: Task): string => JSON.stringify([prompt, metadata]);
      expect(new Set(one.map(texts)).size).toBeGreaterThan(1);
      expect(one.map(texts)).not.toEqual(other.map(texts));
    });

    test('evaluates on the same tasks, whatever was trained on before', () => {
      const rows = [...create().evaluation()].map((row) => structuredClone(row));
      const later = create();
      for (const index of indexes) later.train(9, index);
      expect([...later.evaluation()]).toEqual(rows);
      expect([...later.evaluation()]).toEqual(rows);
    });

    test('evaluates on no id and no prompt that it trains on', () => {
      const held = evaluationTasks(generated(1));
      for (const seed of seeds) {
        const own = trained(seed);
        const ids = new Set(own.map(({ taskId }) => taskId));
        const prompts = new Set(own.map(({ prompt }) => prompt.trim()));
        const isKnown = (task: Task) => ids.has(task.taskId) || prompts.has(task.prompt.trim());
        expect(held.filter(isKnown).map(({ taskId }) => taskId)).toEqual([]);
      }
    });

    test('makes rows that are the same after a round trip through a file', () => {
      const generator = create();
      const some = indexes.map((index) => generator.train(1, index));
      const rows = [...generator.evaluation(), ...some];
      expect(JSON.parse(JSON.stringify(rows))).toEqual(rows);
    });
  });
}
