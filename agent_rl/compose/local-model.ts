import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';
import type { JobOptions } from './run-options.ts';

/** `org/name`; what starts with a dot is a path. */
const hubName = /^\w[\w.-]*\/\w[\w.-]*$/;

/**
 * The same job on a model that is on this machine: a model named by hub id is looked up in the hub's cache, or
 * downloaded into it, and its folder takes the place of the id. A folder of that name comes first.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a revision of what is no model of the hub, and what `fetchHubModel` throws.
 */
export async function withLocalModel<Options extends Omit<JobOptions, 'chosen'>>(
  options: Options,
): Promise<Options> {
  const { loaded, signal, print } = options;
  const { revision, ...model } = loaded.config.model;
  const { hfModelName: name } = model;
  const isFolder =
    name === undefined || [resolve(name), join(packageRoot(), name)].some((at) => existsSync(at));
  if (name === undefined || isFolder || !hubName.test(name)) {
    if (revision === undefined) return options;
    throw new AgentRlError(
      'CONFIG_INVALID',
      `model.revision is ${JSON.stringify(revision)}, and ${JSON.stringify(name ?? model.path)} is no model of the hub, which alone has revisions. Leave it out, or give org/name as model.hfModelName.`,
    );
  }
  // Late: most runs never ask the hub.
  const { fetchHubModel } = await import('./hub/fetch-hub-model.ts');
  const folder = await fetchHubModel(
    { name, revision: revision ?? 'main' },
    { environment: process.env, signal, print },
  );
  const config = { ...loaded.config, model: { ...model, hfModelName: folder } };
  return { ...options, loaded: { ...loaded, config } };
}
