import type { Static } from 'typebox';

import { taskGenerator, type TaskGenerator } from '../../agent_rl/core/tasks/task-generator.ts';
import {
  type ArithmeticRow,
  arithmeticVersion,
  evalRows,
  sliceNames,
  trainRow,
} from './generator/rows.ts';
import { slicedEvaluation } from '../sliced-evaluation.ts';

/** The generator's block in YAML. */
const ArithmeticTaskSettings = slicedEvaluation(sliceNames, sliceNames);
type ArithmeticTaskSettings = Static<typeof ArithmeticTaskSettings>;

/** Sums, differences and products in words, see `CARD.md`. */
@taskGenerator({
  name: 'arithmetic',
  description:
    'Arithmetic questions in words with numbers of 2 to 9 digits, for the environment question.',
  version: arithmeticVersion,
  taskFormat: 'question',
  settings: ArithmeticTaskSettings,
})
export class ArithmeticTasks implements TaskGenerator {
  constructor(private readonly given: { settings: ArithmeticTaskSettings }) {}

  train(seed: number, index: number): ArithmeticRow {
    return trainRow(seed, index);
  }

  evaluation(): ArithmeticRow[] {
    const { evalTasks, slices } = this.given.settings;
    return evalRows(evalTasks, slices);
  }
}
