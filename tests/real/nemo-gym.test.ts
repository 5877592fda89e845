import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { closedAfterEach } from '../support/closed-after-each.ts';
import { freePort } from '../support/free-port.ts';
import { counterRow, nemoGymEpisodes } from '../support/nemo-gym-episodes.ts';
import { pythonWith, type RealServer, startServer } from '../support/real-server.ts';
import { says, type Script } from '../support/scripted-policy.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// A resources server of the package nemo-gym: `npm run test:real -- nemo-gym`. AGENT_RL_NEMO_GYM_PYTHON names a Python of 3.12
// that has it; it is 1.4 GB.

const folder = temporaryFolder();
const python = pythonWith('AGENT_RL_NEMO_GYM_PYTHON', folder, ['nemo-gym==0.4.0']);
let server: RealServer;

beforeAll(async () => {
  writeBelow(
    folder,
    'counter.py',
    `from unittest.mock import MagicMock
from nemo_gym.server_utils import ServerClient
from resources_servers.example_session_state_mgmt.app import StatefulCounterResourcesServer as Server, StatefulCounterResourcesServerConfig as Config
app = Server(config=Config(host="127.0.0.1", port=1, entrypoint="", name="counter"), server_client=MagicMock(spec=ServerClient)).setup_webserver()
`,
  );
  const port = await freePort();
  server = startServer(`http://127.0.0.1:${port}`, {
    words: [python, '-m', 'uvicorn', 'counter:app', '--app-dir', folder, '--port', String(port)],
    log: join(folder, 'server.log'),
    health: '/openapi.json',
  });
  await server.ready;
});
afterAll(() => server.kill());
const opened = closedAfterEach();

/** Adds 1 and the number, then asks. */
const adding =
  (number: number): Script =>
  ({ key: { turn } }) => {
    const calls = [
      ['increment_counter', { count: 1 }],
      ['increment_counter', { count: number }],
      ['get_counter_value', {}],
    ] as const;
    const call = calls[turn];
    return { message: call === undefined ? says('Done.') : says('', call) };
  };

test('A server of the package nemo-gym has 100 episodes played at once, each in a session of its own', async () => {
  const gym = await nemoGymEpisodes(server.url);
  opened.push(gym);
  expect(gym.tools).toMatchObject([
    { name: 'increment_counter', parameters: { required: ['count'] } },
    { name: 'get_counter_value' },
  ]);
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      gym.episode({ script: adding(index % 2 === 0 ? 2 : 3), limits: { maxTurns: 5 } }, counterRow),
    ),
  );
  const rewards = all.map(({ episode }) => episode.reward);
  expect(rewards).toEqual(rewards.map((_, index) => (index % 2 === 0 ? 1 : 0)));
  expect(all[0]?.episode.calls.at(-1)?.result.content).toBe('{"count":6}');
});
