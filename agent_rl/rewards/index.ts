import { brevity } from './brevity.ts';
import { wellFormedCalls } from './well-formed-calls.ts';

/** The rewards that come with the package. The environment's own is always counted and is none of them. */
export const builtInRewards = [brevity, wellFormedCalls] as const;
