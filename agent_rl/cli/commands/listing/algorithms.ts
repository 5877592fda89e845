import type { AlgorithmRow } from '../../../config/index.ts';
import { command } from '../../command.ts';

export const algorithms = command({
  name: 'algorithms',
  describe: 'List what algorithm.name can be: parts, paper, and where we depart from it',
  examples: [
    ['', 'All of them'],
    ['--json', 'The same for a program'],
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
    'In a run file: algorithm: {name: NAME}; what stands beside the name goes over its parts. A part and its settings: agent-rl plugins PART',
  ].join('\n\n');
}
