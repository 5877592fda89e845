import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';

import { TaskSampler } from './task-sampler.ts';

/** Hands out code tasks epoch after epoch; see `TaskSampler`. */
export class CodeTaskSampler extends TaskSampler<CodeTask> {}
