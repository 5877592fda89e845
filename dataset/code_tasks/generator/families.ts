import type { Atom, Run, Scalar, Value } from './atom.ts';
import { listReductions, numberReductions, slices, wordReductions } from './atoms/lists.ts';
import { numberFilters } from './atoms/number-filters.ts';
import { numberMaps } from './atoms/number-maps.ts';
import { numberPairs } from './atoms/number-pairs.ts';
import { type Source, sources } from './atoms/sources.ts';
import { letterFilters, wordCuts, wordFilters, wordMaps } from './atoms/words.ts';

/** One step of a program: a place in it and the atom that fills it. */
export interface Step {
  slot: 'slice' | 'filter' | 'pair' | 'map' | 'reduce';
  name: string;
  atom: Atom;
  /** The atom's ways to write it, the right one first. */
  ways: readonly { code: string; run: Run<Value, Value | boolean, Scalar> }[];
}

/** A named combination of atoms. Its steps run in order. */
export interface Family {
  name: string;
  source: Source;
  sourceName: string;
  steps: readonly Step[];
  /** Never trained on, neither in the warm-up nor by RL. */
  heldOut: boolean;
}

/** All atoms by the place they fill. */
export const atoms: Readonly<Record<Step['slot'], Readonly<Record<string, Atom>>>> = {
  slice: slices,
  filter: { ...numberFilters, ...wordFilters, ...letterFilters },
  pair: numberPairs,
  map: { ...numberMaps, ...wordMaps, ...wordCuts },
  reduce: { ...numberReductions, ...listReductions, ...wordReductions },
};

/** Each family is its source and its atoms, in the order they are applied. */
const trained = [
  'numbers atLeast total',
  'numbers above times total',
  'numbers below squared total',
  'numbers even plus total',
  'numbers odd times largest',
  'numbers multiple count',
  'numbers above count',
  'numbers capped total',
  'numbers distance total',
  'numbers plus smallest',
  'numbers distance smallest',
  'numbers remainder listed',
  'numbers first plus total',
  'numbers atMost listed',
  'numbers endsIn total',
  'numbers unequal final',
  'numbers skip times total',
  'numbers atMost squared total',
  'numbers multiple plus listed',
  'counted unequal listed',
  'counted times total',
  'digits unequal count',
  'digits times total',
  'digits even times listed',
  'upTo distance total',
  'upTo multiple listed',
  'upTo above minus listed',
  'words longer count',
  'words lettersAtLeast listed',
  'words ends upper dashed',
  'words suffix listed',
  'words prefix alphabeticalLast',
  'words starts length smallest',
  'pair smaller minus',
  'pair difference times',
  'pair product remainder',
  'pair larger times',
];

/** Every atom here is trained in some family; none of these combinations is. */
const heldOut = [
  'numbers atLeast plus listed',
  'numbers odd distance total',
  'numbers endsIn count',
  'digits distance listed',
  'upTo odd plus total',
  'words longer suffix dashed',
  'pair larger remainder',
];

function stepOf(name: string): Step {
  for (const [slot, named] of Object.entries(atoms) as [Step['slot'], (typeof atoms)['map']][]) {
    const atom = named[name];
    if (atom === undefined) continue;
    const ways = Object.entries(atom.ways).map(([code, run]) => ({ code, run }));
    return { slot, name, atom, ways };
  }
  throw new RangeError(`No atom is named ${name}.`);
}

function familyOf(line: string, isHeldOut: boolean): Family {
  const [sourceName = '', ...names] = line.split(' ');
  const source = (sources as Record<string, Source>)[sourceName];
  if (source === undefined) throw new RangeError(`No source is named ${sourceName}.`);
  const name = line.replaceAll(' ', '-');
  return { name, source, sourceName, steps: names.map(stepOf), heldOut: isHeldOut };
}

export const trainFamilies: readonly Family[] = trained.map((line) => familyOf(line, false));
export const heldOutFamilies: readonly Family[] = heldOut.map((line) => familyOf(line, true));
export const families: readonly Family[] = [...trainFamilies, ...heldOutFamilies];
