import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

import SharedTypedArraysEnvironment from './shared-typed-arrays-environment.mjs';

const refuse = (what) => {
  throw new Error(
    `A unit test starts a process (${what}). Put it into tests/sandbox or tests/e2e, or test the part that starts none.`,
  );
};

child.ChildProcess.prototype.spawn = ({ file }) => refuse(file);
for (const name of ['spawnSync', 'execFileSync', 'execSync']) child[name] = (file) => refuse(file);
syncBuiltinESMExports();

/** Of the project `unit`, whose tests start no process. */
export default class NoProcessEnvironment extends SharedTypedArraysEnvironment {}
