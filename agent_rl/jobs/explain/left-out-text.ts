import type { Unreadable } from '../../runs/episodes/unreadable.ts';
import { countText } from '../../telemetry/index.ts';

/** Lines of a run's records that could not be read, with their places; nothing where all could. */
export function leftOutLines({ first, count }: Unreadable): string[] {
  if (count === 0) return [];
  return [
    `Left out: ${countText(count, 'line')} of the run's records that cannot be read.`,
    ...first.map((place) => `  ${place}`),
    ...(count > first.length ? [`  and ${count - first.length} more`] : []),
  ];
}
