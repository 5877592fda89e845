import { basename, resolve } from 'node:path';

/** `accept-Qwen3-0.6B` for Qwen/Qwen3-0.6B and for any folder of that name. */
export const nameOfAcceptance = (model: string): string => `accept-${basename(resolve(model))}`;
