import { createServer, type IncomingMessage } from 'node:http';

import { type WebSocket, WebSocketServer } from 'ws';

import { listen, urlOf } from '#agent_rl/http/listen.ts';
import { says, type Script } from './scripted-policy.ts';

/** What a double says to a message; undefined says nothing. */
export type Says = (
  message: { type: string; data?: Record<string, unknown> },
  socket: WebSocket,
) => object | string | undefined;

export interface Double {
  url: string;
  /** Headers of the connections so far. */
  asked: IncomingMessage['headers'][];
  close(): Promise<void>;
}

export const textAction = { properties: { text: { type: 'string' }, metadata: {} } };

/** A server of OpenEnv that says what a test wants. @param greets what it says first, unasked */
export async function openEnvDouble(
  speaks: Says,
  action: object = textAction,
  greets?: (sessions: number) => object | undefined,
): Promise<Double> {
  const server = createServer((_, response) => response.end(JSON.stringify({ action })));
  const sockets = new WebSocketServer({ server, path: '/ws' });
  const asked: Double['asked'] = [];
  sockets.on('connection', (socket, { headers }) => {
    asked.push(headers);
    const first = greets?.(asked.length);
    if (first !== undefined) {
      socket.send(JSON.stringify(first));
      return socket.close();
    }
    socket.on('message', (bytes: Buffer) => {
      const message = JSON.parse(bytes.toString()) as Parameters<Says>[0];
      if (message.type === 'close') return socket.close();
      const said = speaks(message, socket);
      if (said !== undefined) socket.send(typeof said === 'string' ? said : JSON.stringify(said));
    });
  });
  await listen(server, { host: '127.0.0.1', port: 0, code: 'CONFIG_INVALID', what: 'A double' });
  return {
    url: urlOf(server),
    asked,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
    },
  };
}

export const observation = (fields: object, reward: number | null = 0, done = false): object => ({
  type: 'observation',
  data: { observation: fields, reward, done },
});

export const failure = (code: string, message: string): object => ({
  type: 'error',
  data: { code, message },
});

/** Says these texts, one a turn. */
export const saying =
  (...texts: string[]): Script =>
  ({ key: { turn } }) => ({ message: says(texts[turn] ?? 'over') });

/** Counts down, one step a message, and pays 0.5 for each. */
export const countdown: Says = ({ type, data }) => {
  if (type === 'state') return { type: 'state', data: { step_count: 2 } };
  if (type === 'reset')
    return observation({ text: `from ${String(data?.['seed'])}`, metadata: { secret: 1 } });
  return observation({ text: `heard ${String(data?.['text'])}` }, 0.5, data?.['text'] === 'last');
};
