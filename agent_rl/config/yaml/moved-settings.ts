import { isRecord } from '../../core/is-record.ts';
import { placeOf, type Place, pointerStep } from '../checks/problem.ts';
import { type Block, put, type SourcedTree } from './sourced-tree.ts';

/** A setting of version 0.1 that is written elsewhere now, or that has no successor. */
interface Moved {
  from: readonly [block: string, key: string];
  /** The settings that say the same, with their values; none where nothing does. */
  to: (value: unknown) => readonly (readonly [path: readonly string[], value: unknown])[];
  /** What to write now, for the warning. */
  now: string;
}

const truncations = ['truncated-tokens', 'truncated-turns'];

const moved: readonly Moved[] = [
  {
    from: ['algorithm', 'truncated'],
    to: (value) =>
      truncations.map((outcome) => [
        ['rollout', 'outcomes', outcome],
        value === 'drop' ? 'mask' : value,
      ]),
    now: 'now rollout.outcomes.truncated-tokens and rollout.outcomes.truncated-turns, mask for drop',
  },
  ...(
    [
      ['advantageStd', ['advantage', 'std']],
      ['advantageEps', ['advantage', 'eps']],
      ['clipLow', ['loss', 'clipLow']],
      ['clipHigh', ['loss', 'clipHigh']],
    ] as const
  ).map(([key, part]): Moved => ({
    from: ['algorithm', key],
    to: (value) => [[['algorithm', ...part], value]],
    now: `now algorithm.${part.join('.')}`,
  })),
  {
    from: ['rollout', 'resampleZeroVariance'],
    to: (value) => {
      const { enabled, cap } = isRecord(value) ? value : { enabled: value, cap: undefined };
      if (enabled !== true) return [];
      const type = [['algorithm', 'selection', 'type'], 'dynamic'] as const;
      return cap === undefined ? [type] : [type, [['algorithm', 'selection', 'cap'], cap]];
    },
    now: 'now algorithm.selection: {type: dynamic, cap}; without enabled: true it is left out',
  },
  {
    from: ['algorithm', 'rewardScheme'],
    to: (value) => [[['rewardManager', 'type'], value]],
    now: 'now rewardManager.type',
  },
  {
    from: ['rollout', 'episodeTimeoutS'],
    to: () => [],
    now: 'has no effect: how long an episode takes decides nothing. Tools have deadlines of their own, plugins rollout.deadlines',
  },
];

/** Settings of version 0.1 under the names they have now, with a warning for each. */
export function withMovedSettings(own: SourcedTree): SourcedTree & { warnings: readonly string[] } {
  if (!isRecord(own.value)) return { ...own, warnings: [] };
  const value = structuredClone(own.value);
  const places = new Map(own.places);
  const warnings: string[] = [];
  for (const one of moved) {
    const { from, to } = one;
    const [block, key] = from;
    const holder = value[block];
    if (!isRecord(holder) || !Object.hasOwn(holder, key)) continue;
    const pointer = pointerStep(block) + pointerStep(key);
    const place = placeOf(own.places, pointer);
    const { source, line } = place.value;
    const given = holder[key];
    delete holder[key];
    places.delete(pointer);
    for (const [path, moving] of to(given)) setMoved(value, places, { path, value: moving, place });
    const at = line === undefined ? source : `${source}:${line}`;
    warnings.push(warningOf(at, one));
  }
  return { value, places, warnings };
}

/** What `--set` of an old setting sets by its new name, with the warning; nothing for another. */
export function movedOverride({
  source,
  path,
  value,
}: {
  source: string;
  path: string;
  value: unknown;
}): { overrides: { source: string; path: string; value: unknown }[]; warning: string } | undefined {
  const found = moved.find(({ from }) => from.join('.') === path);
  if (found === undefined) return undefined;
  const overrides = found.to(value).map(([to, moving]) => ({
    source,
    path: to.join('.'),
    // Without a value the setting is taken away, under its new name too.
    value: value === undefined ? undefined : moving,
  }));
  return { overrides, warning: warningOf(source, found) };
}

const warningOf = (at: string, { from, now }: Moved): string =>
  `${at} ${from.join('.')}: ${now}. The old setting is accepted until version 0.3.`;

/** Sets what is not set by its new name in the same place. */
function setMoved(
  root: Block,
  places: Map<string, Place>,
  { path, value, place }: { path: readonly string[]; value: unknown; place: Place },
): void {
  let holder = root;
  let pointer = '';
  for (const step of path.slice(0, -1)) {
    pointer += pointerStep(step);
    if (!isRecord(holder[step])) put(holder, step, {});
    if (!places.has(pointer)) places.set(pointer, place);
    holder = holder[step] as Block;
  }
  const last = path.at(-1) ?? '';
  if (Object.hasOwn(holder, last)) return;
  put(holder, last, value);
  places.set(pointer + pointerStep(last), place);
}
