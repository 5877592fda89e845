import type { AlgorithmRow } from '../config/index.ts';

/** Every algorithm in a few lines, and how one is chosen. */
export function algorithmsText(rows: readonly AlgorithmRow[]): string {
  const texts = rows.map(({ name, title, paper, parts, departures }) =>
    [
      name,
      `  ${title}.`,
      `  ${paper}`,
      ...Object.entries(parts).map(([key, value]) => `  ${key.padEnd(12)} ${value}`),
      ...departures.map((departure) => `  - ${departure}`),
    ].join('\n'),
  );
  return [
    ...texts,
    'In a run file: algorithm: {name: NAME}; what stands beside the name goes over its parts. A part and its settings: agent-rl plugins PART',
  ].join('\n\n');
}
