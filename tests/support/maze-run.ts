import { writeBelow } from './temporary-folder.ts';

const plugin = (kind: string, name: string) => `
  export class Plugin${kind} { start() {} step() {} finish() {} begin() {} act() {} observe() {} release() {} }
  Object.defineProperty(Plugin${kind}, Symbol.for('agent_rl.plugin'), {
    value: [{ kind: '${kind}', spec: { name: '${name}', description: 'A plugin.'${kind === 'environment' ? ", taskFormat: 'plain'" : ''} } }],
  });`;

/** Writes a run file with plugins of its own, an environment `maze` and a policy `walker`; its path. */
export function mazeRun(folder: string): string {
  writeBelow(folder, 'world.mjs', plugin('environment', 'maze') + plugin('policy', 'walker'));
  return writeBelow(
    folder,
    'run.yaml',
    'environment: {type: maze}\npolicy: {type: walker}\ndatasets: [{dir: tasks}]\nplugins: [./world.mjs]\n',
  );
}
