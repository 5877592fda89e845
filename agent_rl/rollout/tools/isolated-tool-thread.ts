import { register } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

import { messageOf } from '../../core/errors.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import type { Class } from '../../core/plugins/class.ts';
import { type Tool, tools } from '../../core/plugins/tool.ts';
import type { IsolatedAnswer, IsolatedCall, IsolatedStart } from './isolated-tool.ts';

/*
 * Entry of an isolated tool's thread: imports the tool's module, makes the class marked with its name and answers
 * calls one after another. Never aborts a call: the other side ends the thread.
 */

if (parentPort === null) throw new Error('isolated-tool-thread runs in a worker thread only.');
const port = parentPort;
const say = (answer: IsolatedAnswer): void => port.postMessage(answer);
const { name, settings, url, hooks } = workerData as IsolatedStart;

try {
  const tool = await load();
  port.on('message', (call: IsolatedCall) => void answerCall(tool, call));
  say({ kind: 'ready' });
} catch (thrown) {
  say({ kind: 'unusable', message: messageOf(thrown) });
}

async function load(): Promise<Tool> {
  for (const { url: hookUrl, data } of hooks) register(hookUrl, { data });
  const exported = Object.values((await import(url)) as Record<string, unknown>);
  const found = exported.find((value) => tools.specOf(value)?.name === name);
  if (found === undefined)
    throw new Error(`${url} exports no class marked @tool({ name: "${name}" })`);
  return new (found as Class<Tool>)(settings);
}

async function answerCall(tool: Tool, { args, inputs, randomPath }: IsolatedCall): Promise<void> {
  const { signal } = new AbortController();
  try {
    const random = new KeyedRng(...randomPath);
    // Checked against the tool's schema before it was sent here.
    say({ kind: 'result', result: await tool.call(args, { signal, inputs, random }) });
  } catch (thrown) {
    say({ kind: 'threw', message: messageOf(thrown) });
  }
}
