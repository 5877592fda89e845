import { showValue } from '../../core/show-value.ts';
import { isRecord } from '../../core/is-record.ts';
import { type Place, pointerStep, type Problem } from '../checks/problem.ts';
import { leaveOutOtherType } from './changed-type.ts';
import { readYaml } from './read-yaml.ts';
import { type Block, put, type SourcedTree } from './sourced-tree.ts';

/** One value set from the command line. */
export interface Override {
  /** As the user gave it, `--set train.iterations=3` or `--seed 7`. */
  source: string;
  /** Dotted, `train.iterations`; a number is a place in a list, `tools.0.type`. */
  path: string;
  /** `undefined` removes the setting, as if it had never been written. */
  value: unknown;
  /** Adds to the list instead of replacing it. */
  append?: boolean;
}

/** Reads `a.b=c`; the value is YAML, so `3`, `true`, `[a, b]` and `{k: v}` have their usual meaning. */
export function parseSet(text: string): Override | Problem {
  const source = `--set ${text}`;
  const equals = text.indexOf('=');
  if (equals < 1) {
    return { location: { source }, path: '', text: 'does not have the form path=value.' };
  }
  const { value, problems } = readYaml(text.slice(equals + 1), source);
  const [problem] = problems;
  if (problem !== undefined) return { location: { source }, path: '', text: problem.text };
  // Nothing after the equals sign is an empty string, not an empty block.
  const given = text.slice(equals + 1).trim() === '' ? '' : value;
  return { source, path: text.slice(0, equals), value: given };
}

/** The tree with the overrides applied in order. */
export function applyOverrides(tree: SourcedTree, overrides: readonly Override[]) {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const places = new Map(tree.places);
  const value = structuredClone(tree.value);
  for (const override of overrides) {
    const { source, path } = override;
    const left = leaveOutOtherType(value as Block, places, { override, overrides });
    if (left !== undefined) warnings.push(left);
    const text = apply(value as Block, places, override);
    if (text !== undefined) problems.push({ location: { source }, path, text });
  }
  return { value, places, problems, warnings };
}

function apply(root: Block, places: Map<string, Place>, override: Override): string | undefined {
  const steps = override.path.split('.');
  const last = steps.at(-1) ?? '';
  const place: Place = { key: { source: override.source }, value: { source: override.source } };
  let holder: unknown = root;
  let pointer = '';
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const next = childOf(holder, step);
    if (next === missing) return notHeld(holder, step);
    const below: unknown = next ?? (/^\d+$/.test(steps[index + 1] ?? '') ? [] : {});
    if (next === undefined) setChild(holder, step, below);
    pointer += pointerStep(step);
    if (!places.has(pointer)) places.set(pointer, place);
    holder = below;
  }
  const before = childOf(holder, last);
  if (before === missing) return notHeld(holder, last);
  pointer += pointerStep(last);
  if (override.append === true) {
    const list = before === undefined ? [] : before;
    if (!Array.isArray(list))
      return `cannot be added to: it is ${showValue(list, 60)}, not a list.`;
    setChild(holder, last, [...(list as unknown[]), override.value]);
    if (!places.has(pointer)) places.set(pointer, place);
    places.set(pointer + pointerStep(list.length), place);
    return undefined;
  }
  setChild(holder, last, override.value);
  for (const old of places.keys()) if (old.startsWith(`${pointer}/`)) places.delete(old);
  places.set(pointer, place);
  return undefined;
}

const missing = Symbol('is not a valid key');

/** A child, `undefined` when it could be set, `missing` when it could not. */
function childOf(holder: unknown, step: string): unknown {
  if (isRecord(holder)) return Object.hasOwn(holder, step) ? holder[step] : undefined;
  if (!Array.isArray(holder) || !/^\d+$/.test(step)) return missing;
  return Number(step) <= holder.length ? (holder[Number(step)] as unknown) : missing;
}

function setChild(holder: unknown, step: string, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(step)] = value;
  else if (value === undefined) delete (holder as Block)[step];
  else put(holder as Block, step, value);
}

function notHeld(holder: unknown, step: string): string {
  if (Array.isArray(holder)) {
    return `a list of ${holder.length} has no index "${step}"; use 0 to ${holder.length}.`;
  }
  return `"${step}" cannot be set inside ${showValue(holder, 60)}, which is not a block.`;
}
