import { toolboxDemonstrations } from '../../../dataset/demonstrations/toolbox-demonstrations.ts';
import type { ToolboxTaskSettings } from '../../../dataset/toolbox_tasks/toolbox-tasks.ts';
import { prepareOwn } from '../../bench/controls/seed.ts';
import { teacherConversations } from '../../starter-model/teacher-conversations.ts';
import type { Teach } from './recipe-options.ts';

/** Right work on tasks of the generator that the run file of reinforcement learning names, with its settings. */
export const ownTeacher: Teach = async (options, warmUp, count) => {
  const [generator] = (await prepareOwn(options)).chosen.taskGenerators;
  if (generator?.entry.spec.name === 'toolbox') {
    const settings: unknown = generator.settings;
    return [...toolboxDemonstrations(options.seed, count, settings as ToolboxTaskSettings)];
  }
  const conversations = await teacherConversations(warmUp, options.seed, count);
  return conversations.map((messages) => ({ messages }));
};
