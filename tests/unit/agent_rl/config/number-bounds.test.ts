import { expect, test } from '@jest/globals';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { describePlugins } from '#agent_rl/compose/plugins/registries.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { ConfigSchema } from '#agent_rl/config/config-schema.ts';
import { BuildSettings } from '#agent_rl/search/corpus/settings.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

interface Node {
  type?: string | readonly string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: readonly Node[];
}

/** Dotted paths of the numbers in a schema that lack a bound. */
function unbounded(node: Node, path: string): string[] {
  const { properties = {}, items, anyOf = [] } = node;
  const below = [
    ...Object.entries(properties).flatMap(([key, one]) => unbounded(one, `${path}.${key}`)),
    ...(items === undefined ? [] : unbounded(items, `${path}[]`)),
    ...anyOf.flatMap((one) => unbounded(one, path)),
  ];
  const isNumber = [node.type].flat().some((type) => type === 'number' || type === 'integer');
  const low = node.minimum ?? node.exclusiveMinimum;
  const high = node.maximum ?? node.exclusiveMaximum;
  return isNumber && (low === undefined || high === undefined) ? [path, ...below] : below;
}

test('every number of a run file has a minimum and a maximum', () => {
  expect(unbounded(ConfigSchema as Node, 'run file')).toEqual([]);
});

const plugins = describePlugins(builtinPlugins()).map((one) => [one.kind, one] as const);
test.each(plugins)(
  'every number of a built-in %s has bounds: $name',
  (kind, { name, settings = {} }) => {
    expect(unbounded(settings as Node, `${kind} ${name}`)).toEqual([]);
  },
);

test('every number of an index has a minimum and a maximum', () => {
  expect(unbounded(BuildSettings as Node, 'index')).toEqual([]);
});

const folder = temporaryFolder();
const file = writeBelow(folder, 'run.yaml', 'environment: {type: a}\ndatasets: [{dir: tasks}]\n');
test.each(['train.learningRate=1000', 'rollout.invalidCallPenalty=1e308'])(
  'the implausible value %s is refused',
  (set) => {
    const [path = ''] = set.split('=');
    const { code, message } = thrownBy(() => loadConfig({ file, overrides: [set] }));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(
      new RegExp(`${path.replaceAll('.', '\\.')}: must be [<>]=? [\\d.e-]+, got`),
    );
  },
);
