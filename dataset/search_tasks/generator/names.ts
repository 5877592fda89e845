import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

/** First parts: a consonant, one of a, e, i and o, one of l, n and r. The starter's tokenizer makes each of them one token. */
const firstParts =
  'Bal Bel Bir Bol Dal Del Dir Dor Fal Fer Fir Fol Gar Gel Gir Gol Hal Hel Hir Hol Jal Jer Jil Jor Kal Kel Kir Kol Lar Len Lir Lor Mal Mel Mir Mol Nal Ner Nil Nor Pal Pel Pir Pol Ral Ren Ril Ron Sal Ser Sil Sor Tal Tel Tir Tor Val Vel Vir Vol Wal Wel Wir Wol'.split(
    ' ',
  );

/** Second parts, likewise. */
const secondParts =
  'bano beka bira boda buno dami deka dina dova fera fika gemi gino gora kani keda kiro kola leno liva luma mika mora muna nako neda niva pano peri pola rami reko rina sani suda tano teva tila vaso zuri'.split(
    ' ',
  );

const names = new KeyedRng('names of the search world').shuffle(
  firstParts.flatMap((first) => secondParts.map((second) => first + second)),
);
const warmUpEnd = Math.round(0.5 * names.length);
const trainEnd = Math.round(0.7 * names.length);

/** Every name, by who may use it. No name belongs to two of them, with any seed. */
export const namesOf = {
  warmUp: names.slice(0, warmUpEnd),
  train: names.slice(warmUpEnd, trainEnd),
  eval: names.slice(trainEnd),
} as const;
