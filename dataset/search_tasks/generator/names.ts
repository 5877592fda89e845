import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

/** Who may use a name. No name belongs to two of them, with any seed. */
export type NameOwner = 'warmUp' | 'train' | 'eval';

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

const shares: Readonly<Record<NameOwner, number>> = { warmUp: 0.5, train: 0.2, eval: 0.3 };

/** Every name, by who may use it. The split is the same for every seed. */
export const namesOf: Readonly<Record<NameOwner, readonly string[]>> = (() => {
  const all = firstParts.flatMap((first) => secondParts.map((second) => first + second));
  const order = new KeyedRng('names of the search world').shuffle(all);
  const warmUp = Math.round(order.length * shares.warmUp);
  const train = warmUp + Math.round(order.length * shares.train);
  return {
    warmUp: order.slice(0, warmUp),
    train: order.slice(warmUp, train),
    eval: order.slice(train),
  };
})();
