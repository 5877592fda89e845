import { mean } from '../../../agent_rl/algorithms/statistics.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { openSimilarityScale } from '../../../agent_rl/rewards/answer-similarity/answer-similarity.ts';
import { note } from '../bench-run.ts';
import { meanByPage, type Measured, measuredText } from './by-page.ts';
import type { MedquadQuestion } from './medquad.ts';
import { plainModel } from './model-embedder.ts';

/** How well the reward `answer_similarity` tells what is said of a question from what is not. */
export interface SimilarityReport {
  embedder: string;
  floor: number;
  questions: number;
  /** Mean reward of the other half of the answer. */
  right: number;
  others: {
    said: string;
    /** Mean reward. */
    reward: number;
    /** Share of questions whose right answer earns more; a tie counts half. */
    ordered: Measured;
    /** Chance that a right answer to any question earns more than such a one to any other: the area under the ROC curve. */
    auc: number;
  }[];
}

interface Half extends MedquadQuestion {
  /** The first sentences of the answer, and the rest. */
  reference: string;
  rest: string;
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The answer in two halves of whole sentences; undefined for one sentence. */
function halved(question: MedquadQuestion): Half | undefined {
  const parts = [...sentences.segment(question.answer)].map(({ segment }) => segment.trim());
  const said = parts.filter((part) => part !== '');
  const half = Math.ceil(said.length / 2);
  if (said.length < 2) return undefined;
  const [reference, rest] = [said.slice(0, half), said.slice(half)].map((part) => part.join(' '));
  return { ...question, reference: reference ?? '', rest: rest ?? '' };
}

/**
 * MedQuAD has one answer to a question, so the first half of it is the reference and the second half, the rest,
 * is what a right answer says. Beside it stand second halves of other answers, and the question itself.
 */
export async function measureSimilarity(
  medquad: readonly MedquadQuestion[],
  { questions, model }: { questions: number; model?: string | undefined },
): Promise<SimilarityReport[]> {
  const halves = medquad.map(halved).filter((half) => half !== undefined);
  const others = (of: Half, among: (other: Half) => boolean): Half | undefined => {
    const fitting = halves.filter((other) => other.index !== of.index && among(other));
    return fitting.length === 0
      ? undefined
      : new KeyedRng('bench other answers', of.index).pick(fitting);
  };
  const cases = halves.flatMap((half) => {
    const samePage = others(half, ({ page }) => page === half.page);
    const otherPage = others(half, ({ title }) => title !== half.title);
    return samePage && otherPage ? [{ half, samePage, otherPage }] : [];
  });
  const shuffled = new KeyedRng('bench similarity').shuffle(cases);
  const chosen = questions === 0 ? cases : shuffled.slice(0, questions);
  const tasks = chosen.map(({ half }) => ({
    taskId: String(half.index),
    prompt: half.text,
    metadata: { answer: half.reference },
  }));
  const embedders = [
    { type: 'words' } as const,
    ...(model === undefined ? [] : [plainModel(model)]),
  ];
  const reports: SimilarityReport[] = [];
  for (const embedder of embedders) {
    note(`Measuring: answer_similarity of ${chosen.length} answers, embedder ${embedder.type}`);
    const settings = { embedder, floor: 'measured', pairs: 64 } as const;
    const scale = await openSimilarityScale(settings, { tasks, environment: {} });
    const rewards = async (said: (one: (typeof chosen)[number]) => string): Promise<number[]> => {
      const values: number[] = [];
      for (const one of chosen) values.push(await scale.compare(said(one), [one.half.reference]));
      return values;
    };
    const right = await rewards(({ half }) => half.rest);
    const against = async (said: string, texts: (one: (typeof chosen)[number]) => string) => {
      const wrong = await rewards(texts);
      const ordered = meanByPage(
        chosen.map(({ half }, index) => ({
          page: half.page,
          value: orderedRightly(right[index] ?? 0, wrong[index] ?? 0),
        })),
      );
      note(`  ${said}: ordered rightly ${measuredText(ordered)}`);
      return { said, reward: mean(wrong), ordered, auc: areaUnderCurve(right, wrong) };
    };
    reports.push({
      embedder: embedder.type === 'words' ? 'words' : embedder.model,
      floor: scale.floor,
      questions: chosen.length,
      right: mean(right),
      others: [
        await against("another page's answer", ({ otherPage }) => otherPage.rest),
        await against(
          "the same page's answer to another question",
          ({ samePage }) => samePage.rest,
        ),
        await against('the question itself', ({ half }) => half.text),
      ],
    });
    await scale.close();
  }
  return reports;
}

const orderedRightly = (right: number, wrong: number): number =>
  right === wrong ? 0.5 : Number(right > wrong);

/** Share of all pairs of a right and a wrong one in which the right one is higher. */
function areaUnderCurve(right: readonly number[], wrong: readonly number[]): number {
  return mean(right.map((one) => mean(wrong.map((other) => orderedRightly(one, other)))));
}
