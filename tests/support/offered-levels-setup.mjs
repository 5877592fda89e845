import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const python = '/usr/bin/python3';
const folder = new URL('../../agent_rl/sandbox/native/python', import.meta.url).pathname;
const launch = 'import sys; exec(open(sys.argv[1] + "/main.py").read())';

/** Whether this machine offers a level of the native sandbox: its supervisor is started and says so. */
function isOffered(level) {
  const settings = JSON.stringify({ level, preload: [], hidden: [], base: tmpdir() });
  const options = { encoding: 'utf8', input: '', env: {} };
  const ran = spawnSync(python, ['-s', '-S', '-B', '-c', launch, folder, settings], options);
  return ran.status === 0 && ran.stdout.includes('"level"');
}

/** Asked once for all test files, since each start takes half a second; `python.ts` reads the answer. */
export default () => {
  const levels = process.platform === 'linux' && existsSync(python) ? ['ns', 'lite'] : [];
  process.env['AGENT_RL_OFFERED_LEVELS'] = levels.filter(isOffered).join();
};
