import { successRateOf, type TaskAttempts } from '#agent_rl/trainer/success-rate.ts';

/** Ten tasks of the headline and ten of a slice, of which the first `solved` are solved, with their success rates. */
export function slicedAttempts(solved: number, solvedOfSlice: number, slice: string) {
  const perTask = Array.from({ length: 20 }, (_, index): TaskAttempts => {
    const ofSlice = index >= 10;
    const right = ofSlice ? index - 10 < solvedOfSlice : index < solved;
    const counts = { n: 1, successes: right ? 1 : 0, failed: 0 };
    return { taskId: `task ${index}`, ...counts, groups: ofSlice ? [slice] : [], ofSlice };
  });
  const of = (tasks: readonly TaskAttempts[]) => successRateOf(tasks, { seed: 1, of: 'test' });
  const groups = { [slice]: of(perTask.slice(10)) };
  return { ...of(perTask.slice(0, 10)), groups, perTask };
}
