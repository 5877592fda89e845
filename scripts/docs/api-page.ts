import { code, page, plain, table } from './markdown.ts';
import { publicExports } from './public-exports.ts';

/** What the package exports, by the name it is imported by. */
export const entries = {
  agent_rl: 'agent_rl/index.ts',
  'agent_rl/plugin': 'agent_rl/plugin.ts',
} as const;

const tableOf = (entry: string): string =>
  table(
    ['Name', 'Kind', 'What it is'],
    publicExports(entry).map(({ name, kind, doc }) => [code(name), kind, plain(doc)]),
  );

/** `docs/reference/api.md` */
export const apiPage = (): string =>
  page(
    'API',
    "What the package exports. Importing it starts nothing. Types that occur only inside other types are not exported; derive them, for example as `Parameters<Generator['generate']>[0]`.",
    '`agent_rl` trains, evaluates and loads agents ([from code](../guides/from-code.md)). `agent_rl/plugin` contains what plugins need. `agent_rl/contracts` contains suites that test plugins ([testing plugins](../guides/testing-plugins.md)).',
    '## agent_rl',
    tableOf(entries.agent_rl),
    '## agent_rl/plugin',
    tableOf(entries['agent_rl/plugin']),
  );
