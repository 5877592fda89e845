import { isRecord } from '../../core/is-record.ts';
import { showValue } from '../../core/show-value.ts';

/** The settings of a run, as its `config.yaml` has them. */
export class RunSettings {
  constructor(private readonly config: Readonly<Record<string, unknown>>) {}

  /** The value at a dotted path; `undefined` where it is not set. */
  at(path: string): unknown {
    return path.split('.').reduce<unknown>((value, key) => childOf(value, key), this.config);
  }

  /** A number, or `otherwise` where none is set. */
  number(path: string, otherwise: number): number {
    const value = this.at(path);
    return typeof value === 'number' ? value : otherwise;
  }

  /** The path with its present value, to be put into a sentence. */
  now(path: string): string {
    const value = this.at(path);
    return `${path} (now ${value === undefined ? 'not set' : showValue(value)})`;
  }

  /** The items of a list; none where it is not set. */
  list(path: string): readonly unknown[] {
    const value = this.at(path);
    return Array.isArray(value) ? value : [];
  }
}

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
