import { beforeAll, describe, expect, test } from '@jest/globals';

import { loadPlugins } from '#agent_rl/compose/plugins/plugin-loader.ts';
import { registriesOf, ToolRegistry } from '#agent_rl/compose/plugins/registries.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const none = registriesOf([], 'built in');

const request = (specifier: string) => ({ specifier, folder, namedBy: 'run.yaml:3' });

// Marked as another copy of this package would mark it: by the agreed symbol.
const taskFormat = `taskFormat: 'plain'`;
const parameters = `parameters: { type: 'object' }`;
const more: Record<string, string> = { tool: parameters, environment: taskFormat };
const marked = (kind: string, name: string) => `
  class Plugin { call() {} start() {} step() {} finish() {} }
  Object.defineProperty(Plugin, Symbol.for('agent_rl.plugin'), {
    value: [{ kind: '${kind}', spec: { name: '${name}', description: 'A plugin.', ${more[kind]} } }],
  });`;

beforeAll(() => {
  writeBelow(folder, 'shout.mjs', `${marked('tool', 'shout')}\nexport { Plugin as Shout };`);
  writeBelow(folder, 'again.mjs', `${marked('tool', 'shout')}\nexport { Plugin as Again };`);
  writeBelow(folder, 'world.mjs', `${marked('environment', 'shout')}\nexport default Plugin;`);
  const mute = marked('tool', 'mute').replace('call() {}', '');
  writeBelow(folder, 'mute.mjs', `${mute}\nexport { Plugin as Mute };`);
  writeBelow(folder, 'throws.mjs', `throw new Error('no GPU on this planet');`);
  writeBelow(folder, 'waits.mjs', `await new Promise(() => {});`);
  writeBelow(folder, 'empty.mjs', `export const helper = () => 1;`);
});

describe('The plugin loader', () => {
  test('registers the marked exports of a file with the file as their source', async () => {
    const requests = [request(`${folder}/shout.mjs`), request(`${folder}/world.mjs`)];
    const plugins = await loadPlugins(requests, none);
    expect(plugins.tools.get('shout').source).toBe(`${folder}/shout.mjs`);
    expect(plugins.environments.names()).toEqual(['shout']);
    expect(none.tools.names()).toEqual([]);
  });

  test.each([
    ['throws', /throws\.mjs \(named by run\.yaml:3\) could not be loaded: no GPU on this planet\./],
    ['waits', /waits\.mjs \(named by run\.yaml:3\) .*0\.05 s/],
    ['empty', /exports no plugin\. Export a class marked with @tool/],
    ['mute', /^The tool Plugin from .*mute\.mjs cannot be used:\n {2}call: /],
    ['none', /none\.mjs \(named by run\.yaml:3\) does not exist\. A name with \.\/ is relative/],
  ])('names the file %s.mjs, which cannot be loaded, with the cause', async (file, says) => {
    // Only the file that never finishes has a short deadline: a busy machine may read the others late.
    const deadline = file === 'waits' ? { seconds: 0.05 } : {};
    const loading = loadPlugins([request(`${folder}/${file}.mjs`)], none, deadline);
    expect(await rejectionOf(loading)).toMatchObject(errorOf('PLUGIN_LOAD_FAILED', says));
  });

  test('refuses two plugins of one kind and name, naming both files', async () => {
    const requests = [request(`${folder}/shout.mjs`), request(`${folder}/again.mjs`)];
    const says = /named "shout": one from .*shout\.mjs, one from .*again\.mjs/;
    const error = await rejectionOf(loadPlugins(requests, none));
    expect(error).toMatchObject(errorOf('PLUGIN_DUPLICATE', says));
  });

  test('stops when the job is stopped', async () => {
    const stopped = new AbortController();
    const { signal } = stopped;
    const waiting = loadPlugins([request(`${folder}/waits.mjs`)], none, { signal });
    stopped.abort();
    expect((await rejectionOf(waiting)).code).toBe('INTERRUPTED');
  });

  test('loads a file that is named twice once', async () => {
    const requests = [request(`${folder}/shout.mjs`), request(`${folder}/shout.mjs`)];
    expect((await loadPlugins(requests, none)).tools.names()).toEqual(['shout']);
  });
});

test('a registry refuses unmarked classes', () => {
  const Plain = (): string => 'not marked';
  expect(() => new ToolRegistry([{ plugin: Plain, source: 'here' }])).toThrow(
    /Plain from here is listed as a tool/,
  );
});
