import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

import SharedTypedArraysEnvironment from './shared-typed-arrays-environment.mjs';

const synchronous = ['spawnSync', 'execFileSync', 'execSync'];
const starters = Object.fromEntries(synchronous.map((name) => [name, child[name]]));
const { spawn } = child.ChildProcess.prototype;

const refuse = (what) => {
  throw new Error(
    `A unit test starts a process (${what}). Put it into tests/sandbox or tests/e2e, or test the part that starts none.`,
  );
};

/** Of the project `unit`, whose tests start no process. A worker of jest may run another project's tests next. */
export default class NoProcessEnvironment extends SharedTypedArraysEnvironment {
  async setup() {
    await super.setup();
    child.ChildProcess.prototype.spawn = ({ file }) => refuse(file);
    for (const name of synchronous) child[name] = (file) => refuse(file);
    syncBuiltinESMExports();
  }

  async teardown() {
    child.ChildProcess.prototype.spawn = spawn;
    Object.assign(child, starters);
    syncBuiltinESMExports();
    await super.teardown();
  }
}
