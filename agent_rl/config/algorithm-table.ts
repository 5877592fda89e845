import { isRecord } from '../core/is-record.ts';
import { type AlgorithmName, type AlgorithmPreset, algorithmPresets } from './algorithm-presets.ts';
import { AlgorithmBlock } from './blocks/algorithm-block.ts';

/** One line of the table of algorithms. */
export interface AlgorithmRow extends Pick<AlgorithmPreset, 'title' | 'paper' | 'departures'> {
  name: AlgorithmName;
  /**
   * Parts by the setting below `algorithm` that chooses them, with the preset's own settings: `clipped {clipHigh:
   * 0.28}`.
   */
  parts: Readonly<Record<string, string>>;
}

/** Settings that are shown for every algorithm, whether its preset sets them or not. */
const shown = ['advantage', 'loss', 'selection', 'aggregation'] as const;

/** Every algorithm with its parts, the defaults filled in. */
export const algorithmTable = (): readonly AlgorithmRow[] =>
  Object.entries(algorithmPresets).map(([name, preset]: [string, AlgorithmPreset]) => {
    const { title, paper, departures, settings } = preset;
    const keys = [...new Set([...shown, ...Object.keys(settings)])];
    const parts = Object.fromEntries(
      keys.map((key) => [key, written(settings[key], usualOf(key))]),
    );
    return { name: name as AlgorithmName, title, paper, departures, parts };
  });

interface Setting {
  default?: unknown;
  properties?: Readonly<Record<string, Setting>>;
}

/** The default of a setting below `algorithm`; of a part, its type. */
function usualOf(key: string): unknown {
  const settings = AlgorithmBlock.properties as Readonly<Record<string, Setting | undefined>>;
  const { properties: own, default: usual } = settings[key] ?? {};
  return own?.['type']?.default ?? usual;
}

/** A setting as it is written in a run file; for a part, its type first. */
function written(value: unknown, usual?: unknown): string {
  if (!isRecord(value)) return String(value ?? usual);
  const { type = usual, ...settings } = value;
  const own = Object.entries(settings).map(([key, setting]) => `${key}: ${written(setting)}`);
  const list = own.length === 0 ? [] : [`{${own.join(', ')}}`];
  return [...(typeof type === 'string' ? [type] : []), ...list].join(' ');
}
