import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson, readLines } from './acme-project.ts';

export type AgentExample = ReturnType<typeof agentExample>;

/** A copy of `examples/NAME`, whose `../..` is this package as it is built. */
export function agentExample(folder: string, name: string) {
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
    /** Changes a file of the copy; the text must be there. */
    change: (file: string, changes: Readonly<Record<string, string>>) => {
      let text = readFileSync(join(dir, file), 'utf8');
      for (const [from, to] of Object.entries(changes)) {
        if (!text.includes(from)) throw new Error(`${file} of ${name} has no ${from}`);
        text = text.replace(from, to);
      }
      writeFileSync(join(dir, file), text);
    },
    summary: () => readJson(runOf(), 'summary.json'),
    /** Of its last iteration. */
    metrics: () =>
      readLines(runOf(), 'metrics.jsonl').findLast((one) => 'gateway/sequences' in one) ?? {},
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
