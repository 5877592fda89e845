import type { Attack } from '../attack.ts';
import { badInputAttacks } from './bad-input.ts';
import { crashAttacks } from './crashes.ts';
import { diskAttacks } from './disk.ts';
import { fileAttacks } from './files.ts';
import { kernelAttacks } from './kernel.ts';
import { memoryAttacks } from './memory.ts';
import { networkAttacks } from './network.ts';
import { outputAttacks } from './output.ts';
import { persistenceAttacks } from './persistence.ts';
import { processAttacks } from './processes.ts';
import { timeAttacks } from './time.ts';

/** By theme. */
export const attacks: Readonly<Record<string, readonly Attack[]>> = {
  time: timeAttacks,
  processes: processAttacks,
  memory: memoryAttacks,
  output: outputAttacks,
  crashes: crashAttacks,
  files: fileAttacks,
  disk: diskAttacks,
  network: networkAttacks,
  kernel: kernelAttacks,
  persistence: persistenceAttacks,
  'bad input': badInputAttacks,
};
