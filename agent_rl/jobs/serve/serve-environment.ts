import { once } from 'node:events';

import { WebSocketServer } from 'ws';

import { openAgent } from '../../compose/open-agent.ts';
import { type ResolvedRun, resolveRun } from '../../compose/resolve-run.ts';
import { AgentRlError } from '../../core/errors.ts';
import { packageVersion } from '../../core/package-root.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import type { Task } from '../../core/tasks/task.ts';
import { turnSchema, WireMessages } from '../../environments/openenv/turn-schema.ts';
import { page } from '../../http/answer-request.ts';
import { servePages } from '../../http/serve-pages.ts';
import { showValue } from '../../core/show-value.ts';
import type { JobOptions, JobResult } from '../job.ts';
import { silentPolicy } from '../silent-policy.ts';
import { EnvSessions } from './env-sessions.ts';
import { keyOfServer, type ServerAddress } from './server-key.ts';

export interface ServeEnvironmentOptions extends JobOptions, ServerAddress {
  /** Sessions at once. */
  requests: number;
  /** Seconds without a message after which a session is closed. */
  timeoutS: number;
  /** Told where the server listens, once it does. */
  onListening?: (url: string) => void;
}

/**
 * Offers the environments of a run file, with their tasks, tools and rewards, to clients of OpenEnv's protocol until the
 * signal is aborted. Answers of tasks stay here.
 *
 * @returns the address, and how many sessions, episodes and steps there were
 * @throws AgentRlError for what the user can fix
 */
export async function serveEnvironment(options: ServeEnvironmentOptions): Promise<JobResult> {
  const { host, port, apiKeyEnv, print, signal, requests, timeoutS } = options;
  const token = keyOfServer(options, 'An environment');
  const { trainSplit: train, evalSplit: evaluation } = options.loaded.config.dataset;
  const { environments } = options.chosen;
  const chosen = environments[0]!;
  const other = environments.find(
    ({ agents, entry: { spec } }) => agents.length > 1 || spec.external || spec.ownTools,
  );
  if (other !== undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `environment ${other.name} cannot be served: a client plays one agent, turn by turn, with one list of tools, and this environment has ${other.agents.length > 1 ? 'several agents' : other.entry.spec.external === true ? 'an agent of its own' : 'other tools in each episode'}.`,
    );
  const run = await resolveRun(options, {
    ...options,
    trains: false,
    tasks: { train, evaluation },
  });
  const opened = new Cleanup();
  try {
    const policy = silentPolicy('A server of environments');
    const agent = opened.add(await openAgent(run, { workers: 1, trains: false, policy, signal }));
    const { seed } = run.config.run;
    const sessions = new EnvSessions({
      make: agent.make,
      seed,
      taskOf: taskChoice(run),
      most: requests,
      idleS: timeoutS,
      onFailure: print,
    });
    const sockets = new WebSocketServer({
      noServer: true,
      maxPayload: mostTurnBytes,
      perMessageDeflate: false,
    });
    const { name, description } = chosen.entry.spec;
    const schema = {
      action: turnSchema(agent.toolSpecs),
      observation: { type: 'object', properties: { messages: WireMessages } },
      state: { type: 'object' },
    };
    const server = await servePages({
      host,
      port,
      code: 'CONFIG_INVALID',
      what: 'The environment',
      pages: [
        page('GET', /^\/health$/, async () => ({ status: 'healthy' })),
        page('GET', /^\/metadata$/, async () => ({ name, description, version: packageVersion() })),
        page('GET', /^\/schema$/, async () => schema),
      ],
      token,
      mostRequests: requests,
      requestTimeoutMs: 60_000,
      errorBody: ({ message }) => ({ detail: message }),
      onFailure: (message) => print(`A request failed: ${message}`),
      upgrade: {
        path: '/ws',
        take: (request, socket, head) =>
          sockets.handleUpgrade(request, socket, head, (client) => sessions.serve(client)),
      },
    });
    opened.defer(() => server.close());
    opened.add(sessions);
    const key = token === undefined ? '' : ` Clients must send the key stored in ${apiKeyEnv}.`;
    print(`Environment ${chosen.name} at ${server.url} (OpenEnv). Stop with Ctrl-C.${key}`);
    options.onListening?.(server.url);
    if (!signal.aborted) await once(signal, 'abort');
    return { url: server.url, environment: chosen.name, ...sessions.counts };
  } finally {
    await opened.close();
  }
}

/** Longest message of a client. */
const mostTurnBytes = 2 ** 20;

/** A reset names a task by its id, or a training task by `seed`; without either it is the first. */
function taskChoice({ tasks }: ResolvedRun) {
  const byId = new Map([...tasks.train, ...tasks.evaluation].map((task) => [task.taskId, task]));
  // Of several sources, a seed chooses among the tasks that are made before a run.
  const endless = tasks.sets.length === 1 ? tasks.sets[0]?.endless : undefined;
  return ({ task_id: id, seed }: Readonly<Record<string, unknown>>): Task => {
    const named = typeof id === 'string' ? byId.get(id) : undefined;
    if (named !== undefined) return named;
    if ((id ?? undefined) !== undefined && (seed ?? undefined) === undefined)
      throw new Error(
        `There is no task ${showValue(id)}. Give an id of the run file's tasks, or a seed.`,
      );
    const at = seed ?? 0;
    if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0)
      throw new Error(`seed is ${showValue(seed)}; expected a whole number from 0 on.`);
    return endless?.taskAt(at) ?? tasks.train[at % tasks.train.length]!;
  };
}
