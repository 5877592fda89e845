import { cispo } from './cispo.ts';
import { clipped } from './clipped.ts';
import { gspo } from './gspo.ts';
import { reinforce } from './reinforce.ts';

export const builtinLosses = [clipped, gspo, cispo, reinforce] as const;
