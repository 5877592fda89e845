import { attacks } from './cases/index.ts';
import type { Attack } from './attack.ts';
import { type Backend, packageBackends } from './backends.ts';
import { rewardHacks, type RewardHack } from './reward-hacks.ts';

/** Parts of names; without any, all. */
export interface Choice {
  backends: readonly string[];
  cases: readonly string[];
}

export interface Chosen {
  backends: readonly Backend[];
  /** By theme. */
  attacks: readonly (readonly [theme: string, attacks: readonly Attack[]])[];
  hacks: readonly RewardHack[];
}

export const themeOfHacks = 'reward hacks';

const matches = (parts: readonly string[], ...names: readonly string[]): boolean =>
  parts.length === 0 || parts.some((part) => names.some((name) => name.includes(part)));

/** A part of a theme's name selects the whole theme. */
export function choose({ backends, cases }: Choice): Chosen {
  return {
    backends: packageBackends.filter(({ name }) => matches(backends, name)),
    attacks: Object.entries(attacks).map(
      ([theme, all]) => [theme, all.filter(({ name }) => matches(cases, theme, name))] as const,
    ),
    hacks: rewardHacks.filter(({ name }) => matches(cases, themeOfHacks, name)),
  };
}

/** The problem of the flags in one line, or `undefined`. */
export function flagProblem({ lanes, ...choice }: Choice & { lanes: string }) {
  const chosen = choose(choice);
  if (!/^[1-9]\d{0,2}$/.test(lanes)) {
    return `--lanes is ${lanes === '' ? 'empty' : lanes}; set a whole number from 1 to 999.`;
  }
  if (chosen.backends.length === 0) {
    const known = packageBackends.map(({ name }) => name).join(', ');
    return `--backend: no backend matches ${choice.backends.join(', ')}. The backends are ${known}.`;
  }
  if (chosen.hacks.length > 0 || chosen.attacks.some(([, some]) => some.length > 0))
    return undefined;
  const themes = [...Object.keys(attacks), themeOfHacks].join(', ');
  return `--case: no attack or theme matches ${choice.cases.join(', ')}. The themes are ${themes}.`;
}
