import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { machineText, note, spread, watchMachine } from './bench-run.ts';

/*
 * How long a small chat request waits at `agent-rl serve` while others send what is too long or too slow:
 * `npm run bench:serve`. Milliseconds, median (least to most), and what the others were told.
 */

const chats = 60;
const ended = watchMachine();
const program = `${packageRoot()}/dist/scripts/agent-rl.js`;
const config = `${packageRoot()}/configs/mixed_grpo.yaml`;
const server = spawn(process.execPath, [program, 'serve', '--config', config, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'pipe'],
});
const base = await new Promise<string>((resolve, reject) => {
  let said = '';
  const listen = (piece: Buffer): void => {
    said += String(piece);
    const [, url] = /at (http:\S+)\/v1\./.exec(said) ?? [];
    if (url !== undefined) resolve(url);
  };
  server.stdout.on('data', listen);
  server.stderr.on('data', listen);
  server.on('exit', () => reject(new Error(said)));
});

const chatOf = (content: string): string =>
  JSON.stringify({ model: 'mixed-starter', max_tokens: 8, messages: [{ role: 'user', content }] });

/** Sends a body, all at once or a byte every `everyMs`; the status, or why no response came. */
const send = (body: string, everyMs?: number): Promise<string> =>
  new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const asking = request(`${base}/v1/chat/completions`, { method: 'POST', headers });
    asking.on('response', (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    });
    asking.on('error', ({ message }) => resolve(message));
    if (everyMs === undefined) {
      asking.end(body);
      return;
    }
    let at = 0;
    const timer = setInterval(() => asking.write(body[at++] ?? ' '), everyMs);
    asking.on('close', () => clearInterval(timer));
  });

/** Milliseconds of chats, one after the other. */
async function waits(): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < chats; index += 1) {
    const began = performance.now();
    const status = await send(chatOf(`What is ${index} + 1?`));
    if (status !== '200') throw new Error(`A chat was answered ${status}.`);
    all.push(performance.now() - began);
    await pause(20);
  }
  return all;
}

const megabytes = (count: number): string => chatOf('a b '.repeat(count * 2 ** 18));
const times = (count: number, sent: () => Promise<string>): Promise<string>[] =>
  Array.from({ length: count }, sent);
const loads: Record<string, () => Promise<string>[]> = {
  'nothing else': () => [],
  'one request of 60 MiB': () => times(1, () => send(megabytes(60))),
  '50 requests of 4 MB': () => {
    const body = megabytes(4);
    return times(50, () => send(body));
  },
  '64 bodies of a byte each 100 ms': () => times(64, () => send(chatOf('a'.repeat(1000)), 100)),
  'nothing else, again': () => [],
};

try {
  await waits();
  for (const [name, begin] of Object.entries(loads)) {
    const others = begin();
    const measured = await waits();
    const told = new Map<string, number>();
    const soFar = await Promise.all(
      others.map((one) => Promise.race([one, Promise.resolve('none yet')])),
    );
    for (const status of soFar) told.set(status, (told.get(status) ?? 0) + 1);
    const shown = [...told].map(([status, count]) => `${count} x ${status}`).join(', ');
    process.stdout.write(
      `${name}: ${spread(measured, 0, ' ms')}${shown && `; others: ${shown}`}\n`,
    );
  }
  note(machineText(ended()));
} finally {
  server.kill();
}
process.exit();
