import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { harnessFolder, readHarness } from '../../harness/read-harness.ts';
import { patchGlue, patchLoader, pyodideVersion } from './glue-patches.ts';
import { builtFolder } from './restricted-node.ts';

const unavailable = (message: string, cause?: unknown): AgentRlError =>
  new AgentRlError('SANDBOX_UNAVAILABLE', message, { cause });

/** Installed pyodide, checked to be the one this package patches. */
export interface Distribution {
  folder: string;
  /** Names everything a snapshot depends on: pyodide, Node, the programs of this sandbox, its probes and the harness. */
  key: string;
}

function locate(): string {
  try {
    return dirname(realpathSync(createRequire(import.meta.url).resolve('pyodide/package.json')));
  } catch (cause) {
    throw unavailable('The package pyodide is not installed. Run `npm ci`.', cause);
  }
}

function patchedSources(folder: string): string[] {
  try {
    return [
      patchGlue(readFileSync(join(folder, 'pyodide.asm.mjs'), 'utf8')),
      patchLoader(readFileSync(join(folder, 'pyodide.mjs'), 'utf8')),
    ];
  } catch (cause) {
    throw unavailable(`pyodide in ${folder} cannot be used: ${messageOf(cause)}`, cause);
  }
}

/** What makes the snapshot, restores it and confines it, and what attacks it. */
const programFolders = ['pyodide', 'probes'] as const;

/**
 * Every built program with its path: a snapshot that was made or tested by other code is not used.
 */
function programs(folder: string): string[] {
  try {
    const paths = programFolders
      .flatMap((room) =>
        readdirSync(join(folder, room), { recursive: true }).map((name) =>
          join(room, String(name)),
        ),
      )
      .filter((path) => path.endsWith('.js'));
    return paths
      .toSorted()
      .flatMap((path) => [path.replaceAll(sep, '/'), readFileSync(join(folder, path), 'utf8')]);
  } catch (cause) {
    throw unavailable(
      `The sandbox's programs in ${folder} cannot be read. Run \`npm run build\`.`,
      cause,
    );
  }
}

/**
 * @param folder Of pyodide; the installed one by default.
 * @param built Of the sandbox's programs.
 * @param harness Of the Python around a program.
 * @throws AgentRlError `SANDBOX_UNAVAILABLE` when pyodide is absent, another version, or modified, or when the
 *   programs are not built.
 */
export function findDistribution(
  folder = locate(),
  built = builtFolder(),
  harness = harnessFolder(),
): Distribution {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version?: unknown;
  };
  if (version !== pyodideVersion) {
    throw unavailable(
      `pyodide ${String(version)} is installed in ${folder}, but the sandbox works only with ${pyodideVersion}. Install that version.`,
    );
  }
  const hash = createHash('sha256');
  for (const text of [
    ...patchedSources(folder),
    ...programs(built),
    ...readHarness(harness).flat(),
  ])
    hash.update(text).update('\0');
  const scripts = hash.digest('hex').slice(0, 12);
  return {
    folder,
    key: `pyodide-${version}-node-${process.versions.node}-${process.arch}-${scripts}`,
  };
}
