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
    const { algorithmsText } = await import('../../algorithm-text.ts');
    const table = algorithmTable();
    print(algorithmsText(table));
    return table;
  },
});
