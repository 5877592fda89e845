import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';

export interface AgentExample {
  /** A copy of the folder, beside the package as in a checkout. */
  dir: string;
  /** Changes a file of the copy; the text must be there. */
  change(file: string, changes: Readonly<Record<string, string>>): void;
  /** The newest run. */
  summary(): Readonly<Record<string, unknown>>;
  /** Of its last iteration. */
  metrics(): Readonly<Record<string, number>>;
}

/** A copy of `examples/NAME`, whose `../..` is this package as it is built. */
export function agentExample(folder: string, name: string): AgentExample {
  const root = packageRoot();
  mkdirSync(join(folder, 'examples'), { recursive: true });
  const parts = ['package.json', 'dist', 'agent_rl', 'dataset', 'model', 'node_modules'];
  if (!readdirSync(folder).includes('dist'))
    for (const part of parts) symlinkSync(join(root, part), join(folder, part));
  const dir = join(folder, 'examples', name);
  cpSync(join(root, 'examples', name), dir, {
    recursive: true,
    filter: (path) => !/[/\\](?:node_modules|runs|\.venv|package-lock\.json)$/.test(path),
  });
  const runOf = () => {
    const run = readdirSync(join(dir, 'runs')).find((one) => !one.startsWith('tasks-'));
    return join(dir, 'runs', run ?? '');
  };
  return {
    dir,
    change: (file, changes) => {
      let text = readFileSync(join(dir, file), 'utf8');
      for (const [from, to] of Object.entries(changes)) {
        if (!text.includes(from)) throw new Error(`${file} of ${name} has no ${from}`);
        text = text.replace(from, to);
      }
      writeFileSync(join(dir, file), text);
    },
    summary: () =>
      JSON.parse(readFileSync(join(runOf(), 'summary.json'), 'utf8')) as Record<string, unknown>,
    metrics: () => {
      const lines = readFileSync(join(runOf(), 'metrics.jsonl'), 'utf8').trim().split('\n');
      const all = lines.map((line) => JSON.parse(line) as Record<string, number>);
      return all.findLast((one) => 'gateway/sequences' in one) ?? {};
    },
  };
}

/** Links packages of this checkout into an example. */
export function linkPackages({ dir }: AgentExample, names: readonly string[]): void {
  const modules = join(dir, 'node_modules');
  mkdirSync(join(modules, '@ai-sdk'), { recursive: true });
  symlinkSync(join(dir, '..', '..'), join(modules, 'agent_rl'));
  for (const name of names)
    symlinkSync(join(packageRoot(), 'node_modules', name), join(modules, name));
}

/** A training of two iterations, small. */
export const shortTraining = {
  'iterations: 48': 'iterations: 2',
  'tasksPerStep: 24': 'tasksPerStep: 4',
};
