import { beforeAll, describe, expect, test } from '@jest/globals';

import { loadPlugins } from '#agent_rl/compose/plugins/plugin-loader.ts';
import { registriesOf, ToolRegistry } from '#agent_rl/compose/plugins/registries.ts';
import { Registry } from '#agent_rl/core/plugins/plugin.ts';
import { tool } from '#agent_rl/core/plugins/tool.ts';
import { Type } from 'typebox';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const none = registriesOf([], 'built in');

const request = (specifier: string) => ({ specifier, folder, namedBy: 'run.yaml:3' });

// Marked as another copy of this package would mark it: by the agreed symbol.
const more: Readonly<Record<string, string>> = {
  tool: `parameters: { type: 'object' }`,
  environment: `taskFormat: 'plain'`,
};
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

  test('names a plugin that throws on import, with the cause and its origin', async () => {
    const error = await rejectionOf(loadPlugins([request(`${folder}/throws.mjs`)], none));
    expect(error.code).toBe('PLUGIN_LOAD_FAILED');
    expect(error.message).toMatch(
      /throws\.mjs \(named by run\.yaml:3\) could not be loaded: no GPU on this planet\./,
    );
    expect(error.cause).toBeDefined();
  });

  test('names a plugin that does not finish loading by the deadline', async () => {
    const waiting = loadPlugins([request(`${folder}/waits.mjs`)], none, { seconds: 0.05 });
    const error = await rejectionOf(waiting);
    expect(error.code).toBe('PLUGIN_LOAD_FAILED');
    expect(error.message).toMatch(/waits\.mjs \(named by run\.yaml:3\) .*0\.05 s/);
  });

  test('stops when the job is stopped', async () => {
    const stopped = new AbortController();
    const { signal } = stopped;
    const waiting = loadPlugins([request(`${folder}/waits.mjs`)], none, { signal });
    stopped.abort();
    expect((await rejectionOf(waiting)).code).toBe('INTERRUPTED');
  });

  test('refuses a file without plugins and says what to export', async () => {
    const error = await rejectionOf(loadPlugins([request(`${folder}/empty.mjs`)], none));
    expect(error.code).toBe('PLUGIN_LOAD_FAILED');
    expect(error.message).toMatch(/exports no plugin\. Export a class marked with @tool/);
  });

  test('names the file of a class that breaks the rules of its kind', async () => {
    const error = await rejectionOf(loadPlugins([request(`${folder}/mute.mjs`)], none));
    expect(error.code).toBe('PLUGIN_LOAD_FAILED');
    expect(error.message).toMatch(/^The tool Plugin from .*mute\.mjs cannot be used:\n {2}call: /);
  });

  test('names a missing file and the folder that was searched', async () => {
    const error = await rejectionOf(loadPlugins([request(`${folder}/none.mjs`)], none));
    expect(error.message).toContain(
      `none.mjs (named by run.yaml:3) does not exist. A name with ./ is relative to ${folder}`,
    );
    const here = { ...request(`${folder}/none.mjs`), folder: process.cwd() };
    expect((await rejectionOf(loadPlugins([here], none))).message).toContain(
      'the working directory',
    );
  });

  test('refuses two plugins of one kind and name, naming both files', async () => {
    const requests = [request(`${folder}/shout.mjs`), request(`${folder}/again.mjs`)];
    const error = await rejectionOf(loadPlugins(requests, none));
    expect(error.code).toBe('PLUGIN_DUPLICATE');
    expect(error.message).toMatch(
      /Two tool plugins are named "shout": one from .*shout\.mjs, one from .*again\.mjs/,
    );
  });

  test('loads a file that is named twice once', async () => {
    const requests = [request(`${folder}/shout.mjs`), request(`${folder}/shout.mjs`)];
    expect((await loadPlugins(requests, none)).tools.names()).toEqual(['shout']);
  });
});

test('a registry refuses unmarked classes, and with() returns a larger one', () => {
  const Plain = (): string => 'not marked';
  expect(() => new ToolRegistry([{ plugin: Plain, source: 'here' }])).toThrow(
    /Plain from here is listed as a tool/,
  );
  class Echo {
    call() {
      return Promise.resolve({ content: '' });
    }
  }
  tool({ name: 'echo', description: 'Says it again.', parameters: Type.Object({}) })(Echo);
  const larger = none.tools.with([{ plugin: Echo, source: 'here' }]);
  expect(larger).toBeInstanceOf(Registry);
  expect([larger.names(), none.tools.names()]).toEqual([['echo'], []]);
});
