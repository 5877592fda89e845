import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  existsSync,
} from 'node:fs';
import { basename, join, relative, resolve, dirname, sep } from 'node:path';

import { AgentRlError, nodeCodeOf } from '../../core/errors.ts';
import { packageRoot } from '../../core/package-root.ts';
import { outputUnwritable } from '../../telemetry/atomic-write.ts';
import type { JobResult } from '../job.ts';
import { isRecord } from '../../core/is-record.ts';

export interface NewProjectOptions {
  /** Folder to create, or one that is empty. */
  folder: string;
  /** What the project's package.json names as agent_rl: a version, a tarball or a folder. Default: the copy that runs. */
  agentRl?: string;
  print: (text: string) => void;
}

/** Names in the template that npm would leave out of the package or take for its own, and what they become. */
const renamed = { _gitignore: '.gitignore', '_package.json': 'package.json' };

const filledIn = ['package.json', 'README.md'];

/**
 * Writes a project that is ready to run: a tool, an environment, a reward, tasks, demonstrations, run files and tests.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` when the folder is not empty or cannot be written.
 */
export async function newProject({
  folder,
  agentRl,
  print,
}: NewProjectOptions): Promise<JobResult> {
  const project = resolve(folder);
  requireEmpty(project);
  const values = {
    name: packageName(basename(project)),
    agentRl:
      agentRl === undefined
        ? ownSpecifier(packageRoot(), project)
        : givenSpecifier(agentRl, project),
  };
  try {
    writeTemplate(project, values);
  } catch (cause) {
    throw outputUnwritable(project, cause);
  }
  print(nextSteps(project));
  return { folder: project, ...values };
}

function requireEmpty(folder: string): void {
  const found = entriesOf(folder);
  if (found.length === 0) return;
  const first = found.slice(0, 3).join(', ');
  const more = found.length > 3 ? ` and ${found.length - 3} more` : '';
  throw new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `${folder} is not empty: it holds ${first}${more}. Name a folder that does not exist yet, or an empty one.`,
  );
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if (nodeCodeOf(cause) === 'ENOENT') return [];
    throw outputUnwritable(folder, cause);
  }
}

/** A folder's name as npm takes it for a package's. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '');
  // A project named after its own dependency cannot be installed.
  return name === '' || name === 'agent_rl' ? 'my-agent' : name;
}

function writeTemplate(project: string, values: Readonly<Record<string, string>>): void {
  mkdirSync(project, { recursive: true });
  cpSync(join(packageRoot(), 'templates', 'project'), project, { recursive: true });
  for (const [from, to] of Object.entries(renamed)) {
    renameSync(join(project, from), join(project, to));
  }
  for (const name of filledIn) {
    const file = join(project, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => insideQuotes(values[key])),
    );
  }
}

const insideQuotes = (value = ''): string => JSON.stringify(value).slice(1, -1);

const nextSteps = (project: string): string => `Created ${project}

  cd ${fromHere(project)}
  npm install
  npm test         # the tool, the environment, the reward and the data
  npm run learn    # tasks, demonstrations, supervised training, reinforcement learning: about 3 minutes on two quiet cores

README.md says what each file is for.`;

function fromHere(folder: string): string {
  const path = relative(process.cwd(), folder);
  return path.startsWith('..') ? folder : path || '.';
}

/**
 * What a package.json in `project` names to get the copy of this package that is running: the folder of a checkout, the
 * tarball or repository it was installed from, or its version.
 *
 * @param root the folder of this package's package.json
 */
export function ownSpecifier(root: string, project: string): string {
  const modules = dirname(root);
  if (basename(modules) !== 'node_modules') return fileSpecifier(root, project);
  const name = basename(root);
  const installed = entryOf(join(modules, '.package-lock.json'), `node_modules/${name}`);
  const resolved = installed['resolved'];
  if (typeof resolved !== 'string' || isRegistrys(resolved)) return versionOf(root);
  if (!resolved.startsWith('file:')) return resolved;
  return fileSpecifier(resolve(dirname(modules), resolved.slice('file:'.length)), project);
}

/** The same for what a user wrote: a path from the working directory, or whatever else npm takes. */
export const givenSpecifier = (given: string, project: string): string =>
  existsSync(given) ? fileSpecifier(resolve(given), project) : given;

/** With forward slashes on every system, as npm writes it. */
const fileSpecifier = (target: string, project: string): string =>
  `file:${relative(project, target).split(sep).join('/')}`;

const isRegistrys = (resolved: string): boolean => /^https?:.*\/-\//.test(resolved);

/** What npm noted about an installed package; nothing where it was installed otherwise. */
function entryOf(lockFile: string, place: string): Record<string, unknown> {
  const lock = jsonOf(lockFile);
  const packages = lock['packages'];
  const entry = isRecord(packages) ? packages[place] : undefined;
  return isRecord(entry) ? entry : {};
}

const versionOf = (root: string): string =>
  `^${String(jsonOf(join(root, 'package.json'))['version'])}`;

function jsonOf(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
