import { Type } from 'typebox';

import { integer, most, within } from '../agent_rl/config/blocks/block.ts';

/** The block in YAML of a task generator whose evaluation is a headline and slices, each of as many questions. */
export const slicedEvaluation = (names: readonly string[], asked: readonly string[]) =>
  Type.Object(
    {
      slices: Type.Array(Type.Enum([...names]), {
        description: `Slices to evaluate besides the headline, each reported separately: any of ${names.join(', ')}`,
        uniqueItems: true,
        default: [...asked],
      }),
      evalTasks: integer(
        'Number of questions in the headline and in each slice',
        within(1, most.count, 200, 'tasks'),
      ),
    },
    { additionalProperties: false },
  );
