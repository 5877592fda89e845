import type { TrackedRun } from '../../core/run-event.ts';
import type { MlflowText } from './mlflow-client.ts';
import { MlflowNames } from './mlflow-names.ts';

/** Characters of a parameter; the server would cut a longer one, and say nothing. */
const longestValue = 6000;

/** Each setting as a parameter, named by its dotted path. The notes say which are not as they were. */
export function paramsOf(config: TrackedRun['config']) {
  const names = new MlflowNames();
  const params: MlflowText[] = [];
  const cut: string[] = [];
  const add = (value: unknown, path: string): void => {
    const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    for (const [key, part] of below) add(part, path === '' ? key : `${path}.${key}`);
    if (below.length > 0) return;
    const text = Array.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'));
    const key = names.of(path);
    params.push({ key, value: text.slice(0, longestValue).join('') });
    if (text.length > longestValue) cut.push(`the parameter ${key} is too long and is truncated`);
  };
  add(config, '');
  return { params, notes: [...cut, ...names.takeChanges()] };
}
