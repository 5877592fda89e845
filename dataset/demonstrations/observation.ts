import { pythonRepr } from '../../agent_rl/core/python/python-value.ts';

import type { Value } from '../code_tasks/generator/atom.ts';
import type { Mode } from '../code_tasks/generator/program.ts';
import { printed } from '../code_tasks/generator/python-text.ts';

/**
 * What the `code_exec` tool shows after a run on the public example: what a program printed, or the `repr` of
 * what `f` returned. Must equal the tool's own text, or the warm-up teaches a format that never comes.
 */
export const observation = (mode: Mode, value: Value): string =>
  mode === 'stdin' ? printed(value) : pythonRepr(value);
