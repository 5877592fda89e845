import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { transform } from 'esbuild';

import { packageScheme } from './plugin-package-scheme.ts';

/*
 * Module hooks that let plugins be TypeScript and let them say `import … from 'agent_rl/plugin'` wherever they lie.
 * They run in Node's own thread for hooks and share nothing with the rest but messages.
 */

interface Resolved {
  url: string;
}

interface ResolveContext {
  parentURL?: string | undefined;
}

type NextResolve = (specifier: string, context: ResolveContext) => Promise<Resolved>;

// What a plugin's own code needs of us; a file outside any project cannot find them by itself.
const ours = /^(agent_rl|typebox)(\/|$)/;

let packageUrl = import.meta.url;

/** Told once where this package lies. */
export function initialize(data: { packageUrl: string }): void {
  packageUrl = data.packageUrl;
}

const isNotFound = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/** The first alternative that exists; the first one's error when none does. */
async function firstFound(attempts: readonly (() => Promise<Resolved>)[]): Promise<Resolved> {
  let failure: unknown;
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch (error) {
      if (!isNotFound(error)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

export async function resolve(
  specifier: string,
  context: ResolveContext,
  next: NextResolve,
): Promise<Resolved> {
  if (specifier.startsWith(packageScheme)) {
    const [name = '', ...folders] = specifier
      .slice(packageScheme.length)
      .split('|')
      .map((part) => decodeURIComponent(part));
    return firstFound(
      folders.map((parentURL) => async () => next(name, { ...context, parentURL })),
    );
  }
  const attempts = [async () => next(specifier, context)];
  if (ours.test(specifier)) {
    attempts.push(async () => next(specifier, { ...context, parentURL: packageUrl }));
  }
  // TypeScript's own convention: `./helper.js` names what is `./helper.ts` on disk.
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true) {
    attempts.push(async () => next(specifier.replace(/\.js$/, '.ts'), context));
  }
  return firstFound(attempts);
}

type NextLoad = (url: string, context: object) => Promise<object>;

export async function load(url: string, context: object, next: NextLoad): Promise<object> {
  if (!/^file:.*\.m?ts$/.test(url)) return next(url, context);
  const file = fileURLToPath(url);
  const { code } = await transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile: file,
    sourcemap: 'inline',
    // Not read from a tsconfig.json near the plugin: what the decorators mean is our contract.
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
