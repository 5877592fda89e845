import { existsSync, readFileSync } from 'node:fs';

import { writeFileAtomic } from '../../../agent_rl/telemetry/index.ts';

/** The value in a JSON file, made and written first when there is no such file. */
export async function readOnce<T>(file: string, make: () => Promise<T>): Promise<T> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  const value = await make();
  writeFileAtomic(file, `${JSON.stringify(value, null, 1)}\n`);
  return value;
}
