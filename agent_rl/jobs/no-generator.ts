import type { Sampler } from '../core/services/generator.ts';

/** Stands for the generator of a policy that only turns messages into tokens. */
export const noGenerator = (why: string): Sampler => ({
  generate: () => Promise.reject(new Error(why)),
  release: () => undefined,
});
