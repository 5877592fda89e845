import { KeyedRng } from '../../core/keyed-rng.ts';
import { type Class, givenOf } from '../../core/plugins/given.ts';
import { type Tool, tools } from '../../core/plugins/tool.ts';
import { registerHooks } from '../../threads/plugin-hooks.ts';
import { serveRpc } from '../../threads/rpc.ts';
import type { IsolatedCall, IsolatedStart } from './isolated-tool.ts';

/*
 * Entry of an isolated tool's thread: imports the tool's module, makes the class marked with its name and answers
 * calls one after another. Never aborts a call: the other side ends the thread.
 */

const missing = () =>
  'the thread of an isolated tool receives nothing but the settings of the tool';

await serveRpc(async ({ name, settings, url, hooks }: IsolatedStart) => {
  registerHooks(hooks);
  const exported = Object.values((await import(url)) as Record<string, unknown>);
  const found = exported.find((value) => tools.specOf(value)?.name === name);
  if (found === undefined)
    throw new Error(`${url} exports no class marked @tool({ name: "${name}" })`);
  const tool = new (found as Class<Tool>)(givenOf({ settings }, missing));
  return {
    answer: ([{ args, randomPath, ...call }]: [IsolatedCall], signal: AbortSignal) =>
      // Checked against the tool's schema before it was sent here.
      tool.call(args, { signal, random: new KeyedRng(...randomPath), ...call }),
  };
});
