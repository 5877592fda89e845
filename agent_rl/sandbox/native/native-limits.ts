import { keptOutputBytes, type SandboxLimits } from '../../core/services/sandbox.ts';

/** Limits as the supervisor takes them. */
export type NativeLimits = ReturnType<typeof nativeLimits>;

const mebibyte = 1024 * 1024;

/** `totalS` bounds the processor time of a process that runs more than one program. */
export const nativeLimits = ({ wallS, memoryMiB }: Required<SandboxLimits>, totalS = wallS) => ({
  wall_s: wallS,
  cpu_s: Math.ceil(totalS) + 1,
  memory_mib: Math.floor(memoryMiB),
  disk_mib: 32,
  entries: 2048,
  file_mib: 32,
  tasks: 64,
  descriptors: 64,
  output_kept: keptOutputBytes,
  output_most: 4 * mebibyte,
});
