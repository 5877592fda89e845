import { constant } from './constant.ts';
import { gigpo } from './gigpo.ts';
import { groupRelative } from './group-relative.ts';
import { reinforcePlusPlus } from './reinforce-plus-plus.ts';
import { rloo } from './rloo.ts';

export const builtinAdvantages = [groupRelative, rloo, reinforcePlusPlus, gigpo, constant] as const;
