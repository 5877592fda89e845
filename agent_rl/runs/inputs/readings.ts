import { isDeepStrictEqual } from 'node:util';

import { AgentRlError } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';
import type { TableReading } from '../../../dataset/tables/table-reading.ts';

/** How the files of one folder of tasks are read: of the same bytes other readings make other tasks. */
export interface TaskReading extends TableReading {
  format: string;
}

const settings = ['format', 'columns', 'answerPattern'] as const;

/**
 * Refuses to read the folders of a run otherwise than it began.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export function checkReadings(
  run: string,
  before: readonly TaskReading[],
  now: readonly TaskReading[],
): void {
  const changes = now.flatMap((reading, folder) =>
    settings
      .filter((name) => !isDeepStrictEqual(before[folder]?.[name], reading[name]))
      .map(
        (name) =>
          `${name} of datasets.${folder}, ${shown(before[folder]?.[name])} -> ${shown(reading[name])}`,
      ),
  );
  if (changes.length === 0) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run ${run} cannot be resumed: the way its tasks are read has changed (${changes.join('; ')}). Restore format, columns and answerPattern of datasets, or start a new run from its checkpoint with --model.`,
  );
}

const shown = (value: unknown): string => (value === undefined ? 'none' : showValue(value));
