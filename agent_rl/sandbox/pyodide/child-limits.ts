import type { SandboxLimits } from '../../core/services/sandbox.ts';
import type { ChildRequest } from './protocol.ts';

const mebibyte = 1024 * 1024;

/** Limits as a child takes them. */
export const childLimits = ({
  wallS,
  memoryMiB,
}: Required<SandboxLimits>): Pick<ChildRequest, 'wallMs' | 'memoryBytes'> => ({
  wallMs: wallS * 1000,
  memoryBytes: Math.floor(memoryMiB) * mebibyte,
});
