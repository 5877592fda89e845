import { Type } from '../agent_rl/core/typebox.ts';
import { integer, within } from '../agent_rl/config/blocks/block.ts';

/** The block in YAML of a task generator whose evaluation is a headline and slices, each of as many questions. */
export const slicedEvaluation = (names: readonly string[], asked: readonly string[]) =>
  Type.Object(
    {
      slices: Type.Array(Type.Enum([...names]), {
        description: `Slices of held-out tasks to evaluate in addition to the main set, each reported separately. Available: ${names.join(', ')}`,
        uniqueItems: true,
        default: [...asked],
      }),
      evalTasks: integer(
        'Number of questions in the main set and in each slice',
        within(1, 10_000, 200, 'tasks'),
      ),
    },
    { additionalProperties: false },
  );
