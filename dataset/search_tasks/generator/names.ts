import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

/** Who may use a name. No name belongs to two, whatever the seed. */
export type NameOwner = 'warmUp' | 'train' | 'eval';

/** First parts: a consonant, a vowel, a consonant. The starter's tokenizer makes each of them one token. */
export const firstParts =
  'Bal Bel Bir Bol Bur Dal Del Dir Dor Dur Fal Fer Fir Fol Ful Gar Gel Gir Gol Gur Hal Hel Hir Hol Hur Jal Jer Jil Jor Jun Kal Kel Kir Kol Kur Lar Len Lir Lor Lun Mal Mel Mir Mol Mur Nal Ner Nil Nor Nur Pal Pel Pir Pol Pur Ral Ren Ril Ron Rul Sal Ser Sil Sor Sul Tal Tel Tir Tor Tul Val Vel Vir Vol Vun Wal Wel Wir Wol Wun Yal Yer Yil Yor Yun Zal Zel Zir Zol Zun Xal Xel Xir Xol Xun Cor'.split(
    ' ',
  );

/** Second parts, likewise. */
export const secondParts =
  'bano beka bira boda buno dami deka dina dova dula fani fera fika fomo gada gemi gino gora kani keda kiro kola lami leno liva luma mika mora muna nako neda niva pano peri pola rami reko rina sani sema siko suda tano teva tila vaso vemi zuri'.split(
    ' ',
  );

const shares: Readonly<Record<NameOwner, number>> = { warmUp: 0.6, train: 0.25, eval: 0.15 };

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
