import type { AlgorithmRow } from '../../../config/index.ts';
import { command } from '../../command.ts';

export const algorithms = command({
  fits: true,
  name: 'algorithms',
  describe:
    'List the presets for algorithm.name: their parts, their paper, and how they differ from it',
  examples: [
    ['', 'List all algorithms'],
    ['--json', 'Print JSON'],
  ],
  run: async (_, { job: { print } }) => {
    const { algorithmTable } = await import('../../../config/index.ts');
    const table = algorithmTable();
    print(algorithmsText(table));
    return table;
  },
});

/** Every algorithm in a few lines, and how one is chosen. */
function algorithmsText(rows: readonly AlgorithmRow[]): string {
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
    'In a run file: algorithm: {name: NAME}. Other keys in this block override parts of the preset. To see the settings of a part: agent-rl plugins PART',
  ].join('\n\n');
}
