import { join } from 'node:path';

import { type Static, Type } from '../../core/typebox.ts';
import type { Given } from '../../core/plugins/given.ts';
import {
  type TrackedEvent,
  type Tracker,
  tracker,
  type TrackerNote,
} from '../../core/plugins/tracker.ts';
import type { TrackedRun } from '../../core/run-event.ts';
import { secretOf } from '../../core/wire/secret-of.ts';
import { unreachable } from '../../core/unreachable.ts';
import { withoutSecrets } from '../../telemetry/redact.ts';
import { requireWandb } from './python-with-wandb.ts';
import { Sidecar, type SidecarRequest } from './sidecar.ts';

const WandbSettings = Type.Object(
  {
    project: Type.String({ description: 'Project in W&B.', minLength: 1, default: 'agent_rl' }),
    entity: Type.Optional(
      Type.String({ description: 'User or team; by default the owner of the key.', minLength: 1 }),
    ),
    name: Type.Optional(
      Type.String({
        description: 'Name of the run in W&B; by default the name of this run.',
        minLength: 1,
      }),
    ),
    mode: Type.Enum(['online', 'offline'], {
      description: 'online uploads during the run; offline writes files for wandb sync.',
      default: 'online',
    }),
    apiKeyEnv: Type.Optional(
      Type.String({
        description:
          'Environment variable that holds the key; by default WANDB_API_KEY or the key stored by wandb login.',
        minLength: 1,
        actsWith: { mode: 'online' },
      }),
    ),
    python: Type.String({
      description: 'Python with the package wandb: a path, or a name on PATH.',
      minLength: 1,
      default: 'python3',
      path: 'file-or-name',
    }),
  },
  { additionalProperties: false },
);
type WandbSettings = Static<typeof WandbSettings>;

/** As W&B's SDK takes them: 255 is what it makes of a Ctrl-C. */
const exitCodes = { finished: 0, interrupted: 255, failed: 1 } as const;

/** The run's figures and nothing of the machine: nothing is printed, no code, no Git, no use of processor and memory. */
const quiet = {
  WANDB_SILENT: 'true',
  WANDB_CONSOLE: 'off',
  WANDB_DISABLE_CODE: 'true',
  WANDB_DISABLE_GIT: 'true',
  WANDB_X_DISABLE_STATS: 'true',
};

/**
 * Logs a run to Weights & Biases by its own Python SDK, in a process of its own. A resumed run goes on in the same run of
 * W&B, whose history only grows: what is done again stays as it was logged first.
 */
@tracker({
  name: 'wandb',
  description: 'Logs to a Weights & Biases run with its Python SDK in another process',
  settings: WandbSettings,
})
export class WandbTracker implements Tracker {
  readonly #settings: WandbSettings;
  readonly #sidecar: Sidecar;

  /** Starts Python: it has loaded the SDK by the time the run begins. @throws AgentRlError `CONFIG_INVALID`, `PLUGIN_LOAD_FAILED` */
  constructor({ settings }: Pick<Given<WandbSettings>, 'settings'>) {
    this.#settings = settings;
    const env = environmentOf(settings);
    requireWandb(settings.python, env);
    this.#sidecar = new Sidecar(settings.python, env);
  }

  /** Of the process of the SDK. */
  get pid(): number | undefined {
    return this.#sidecar.pid;
  }

  async track(event: TrackedEvent, signal: AbortSignal): Promise<TrackerNote> {
    return this.#sidecar.ask(requestOf(event, this.#settings), signal);
  }

  close(): Promise<void> {
    return this.#sidecar.close();
  }
}

/** What the sidecar is asked to do for an event. */
function requestOf(event: TrackedEvent, settings: WandbSettings): SidecarRequest {
  switch (event.type) {
    case 'start':
      return startOf(event.run, settings);
    case 'iteration':
    case 'evaluation': {
      // JSON has no NaN and no infinities.
      const metrics = Object.entries(event.metrics).map(([name, value]) => [
        name,
        Number.isFinite(value) ? value : String(value),
      ]);
      return { do: 'log', step: event.iteration, metrics };
    }
    case 'checkpoint': {
      const { path: checkpoint, weightsSha256 } = event;
      return { do: 'summary', values: { checkpoint, weightsSha256 } };
    }
    case 'summary':
      return { do: 'summary', values: event.summary };
    case 'end':
      return { do: 'end', exit_code: exitCodes[event.status] };
    default:
      return unreachable(event);
  }
}

function startOf(run: TrackedRun, settings: WandbSettings): SidecarRequest {
  const { folder, mode: job_type, config, from = -1 } = run;
  const { project, entity, name = run.name, mode } = settings;
  return {
    do: 'start',
    state: join(folder, 'trackers', 'wandb.json'),
    project,
    entity,
    name,
    mode,
    dir: folder,
    config,
    job_type,
    from,
  };
}

/** The key alone of all secrets, and the proxies. */
function environmentOf({ apiKeyEnv, mode }: WandbSettings): NodeJS.ProcessEnv {
  const { env } = process;
  const key =
    apiKeyEnv === undefined || mode === 'offline'
      ? env['WANDB_API_KEY']
      : secretOf(apiKeyEnv, { user: 'The tracker wandb' });
  const proxies = Object.entries(env).filter(([name]) => /^https?_proxy$/i.test(name));
  return {
    ...withoutSecrets(env),
    ...Object.fromEntries(proxies),
    ...quiet,
    WANDB_API_KEY: key,
  };
}
