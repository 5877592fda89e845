/** Program that makes the patched glue and the memory snapshot. Runs no code but pyodide's and ours. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BareRealm } from '../realm/bare-realm.ts';
import { patchGlue, patchLoader } from './glue-patches.ts';
import type { SnapshotSettings } from '../protocol.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as SnapshotSettings;
const shipped = (name: string): Buffer => readFileSync(join(settings.pyodideFolder, name));
const made = (name: string): string => join(settings.snapshotFolder, name);

const glue = patchGlue(shipped('pyodide.asm.mjs').toString('utf8'));
const loader = patchLoader(shipped('pyodide.mjs').toString('utf8'));
const lock = JSON.parse(shipped('pyodide-lock.json').toString('utf8')) as { info: unknown };

const realm = new BareRealm();
const { snapshot } = await realm.instantiate<{ snapshot: () => Uint8Array }>(
  { glue, loader, wasm: shipped('pyodide.asm.wasm'), stdlib: shipped('python_stdlib.zip') },
  {
    makeSnapshot: true,
    boot: settings.boot,
    lockInfo: lock.info,
    captureBytes: 4096,
    floodBytes: 4096,
  },
);
writeFileSync(made('glue.js'), glue);
writeFileSync(made('loader.js'), loader);
writeFileSync(made('snapshot.bin'), snapshot());
