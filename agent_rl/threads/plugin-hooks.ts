import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { packageRoot } from '../core/package-root.ts';
import { compiledTwin, type ModuleHooks, moduleBeside } from './thread.ts';

let areRegistered = false;

/** The hooks that let a thread or a process import plugins, which may be TypeScript, as this process does. */
export function allPluginHooks(): readonly ModuleHooks[] {
  const { href: url } = compiledTwin(moduleBeside(import.meta.url, 'plugin-loading-hooks'));
  const packageUrl = pathToFileURL(join(packageRoot(), 'package.json')).href;
  return [{ url, data: { packageUrl } }];
}

/** Those in use in this process; none while no plugin has been loaded. */
export const pluginHooks = (): readonly ModuleHooks[] => (areRegistered ? allPluginHooks() : []);

/** Once per process: hooks cannot be taken back. Run from its sources, the loader that got here reads TypeScript. */
export function registerPluginHooks(): void {
  if (areRegistered || import.meta.url.endsWith('.ts')) return;
  areRegistered = true;
  registerHooks(allPluginHooks());
}

export function registerHooks(hooks: readonly ModuleHooks[]): void {
  for (const { url, data } of hooks) register(url, { data });
}
