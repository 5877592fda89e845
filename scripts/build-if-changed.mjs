import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Runs `npm run build` unless dist/ was built from the sources as they are now. The build ends with
 * `build-if-changed.mjs --built`, which writes the hash of the sources into dist/.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', 'sources.sha256');

const below = (folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|mjs|css|html|svg)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted((a, b) => (a < b ? -1 : 1));

const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const sources = [
  ...['agent_rl', 'dataset', 'model', 'scripts', 'tests/contracts', 'tests/attacks'].flatMap(below),
  ...settings.map((name) => join(root, name)),
];

const hash = createHash('sha256');
for (const path of sources)
  hash
    .update(`${path.slice(root.length)}\0`)
    .update(readFileSync(path))
    .update('\0');
const now = hash.digest('hex');

if (process.argv[2] === '--built') {
  writeFileSync(stamp, now);
} else if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) {
  console.log('dist/ is current.');
} else {
  const { status } = spawnSync('npm', ['run', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: true,
  });
  process.exitCode = status ?? 1;
}
