import { keptOutputBytes, type SandboxLimits } from '../../core/services/sandbox.ts';

/** Limits as the supervisor takes them. */
export interface NativeLimits {
  wall_s: number;
  cpu_s: number;
  memory_mib: number;
  disk_mib: number;
  entries: number;
  file_mib: number;
  tasks: number;
  descriptors: number;
  output_kept: number;
  output_most: number;
}

const mebibyte = 1024 * 1024;

/** `totalS` bounds the processor time of a process that runs more than one program. */
export function nativeLimits(
  { wallS, memoryMiB }: Required<SandboxLimits>,
  totalS = wallS,
): NativeLimits {
  return {
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
  };
}
