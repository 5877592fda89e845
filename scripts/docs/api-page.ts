import { code, page } from './markdown.ts';
import { type Export, publicExports } from './public-exports.ts';

/** Rooms of the source in the order of the page, with what their exports are for. */
const rooms: [folder: string, title: string][] = [
  ['agent_rl/core/plugins/', 'Writing plugins'],
  ['agent_rl/core/tasks/', 'Tasks'],
  ['agent_rl/core/services/', 'Services that plugins are given'],
  ['agent_rl/core/', 'Messages, episodes and errors'],
  ['agent_rl/jobs/', 'Running jobs'],
  ['agent_rl/config/', 'Run files'],
  ['agent_rl/compose/', 'Plugins of a run'],
  ['agent_rl/tools/', 'Built-in tools'],
  ['agent_rl/environments/', 'Built-in environments'],
  ['agent_rl/policies/', 'Built-in policies and tool-call formats'],
  ['agent_rl/rollout/', 'Collecting episodes'],
  ['agent_rl/trainer/', 'Training and evaluation'],
  ['dataset/', 'Data sets'],
  ['model/', 'Models'],
  ['', 'Everything else'],
];

const roomOf = ({ file }: Export): string =>
  rooms.find(([folder]) => file.startsWith(folder))?.[1] ?? '';

const text = ({ name, kind, doc, signature }: Export): string =>
  [
    `### ${code(name)}`,
    ...(doc === '' && signature === '' ? [`A ${kind}.`] : []),
    ...(doc === '' ? [] : [doc]),
    ...(signature === '' ? [] : [`\`\`\`ts\n${signature}\n\`\`\``]),
  ].join('\n\n');

/** `docs/reference/api.md` */
export function apiPage(): string {
  const all = publicExports();
  const parts = rooms.flatMap(([, title]) => {
    const own = all.filter((one) => roomOf(one) === title);
    return own.length === 0 ? [] : [`## ${title}`].concat(own.map(text));
  });
  return page(
    'API',
    `The ${all.length} public names of \`agent_rl\`, and beside them \`Type\` of TypeBox. Importing them starts nothing.`,
    '`agent_rl/contracts` holds suites that test plugins; see [testing plugins](../guides/testing-plugins.md).',
    ...parts,
  );
}
