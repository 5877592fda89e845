import { openLanguageModelFolder } from '../../../model/text/language-model.ts';

/** What a tokenizer must give back as it was: what models of this kind write, and what is easily lost. */
const texts = [
  'What is 37 times 6 minus 52?',
  '<tool_call>\n{"name": "calculator", "arguments": {"expression": "37 * 6 - 52"}}\n</tool_call>',
  'def f(xs):\n    return [x for x in xs if x % 2 == 0]\n\n\nprint(f([1, 2]))\t# 2\n',
  '  leading, doubled  and trailing spaces  ',
  'The answer is \\boxed{\\frac{1}{2}}, not 0.5.',
  'naïve café, 東京, Привет, مرحبا, 🙂',
] as const;

export interface ReadBack {
  texts: number;
  /** Those that came back otherwise, each as it came. */
  changed: readonly string[];
}

/** Encodes texts and decodes them again with the tokenizer of a model folder. */
export async function readBack(folder: string): Promise<ReadBack> {
  const { tokenizer } = await openLanguageModelFolder(folder);
  const changed = texts
    .map((text) => ({ text, back: tokenizer.decode(tokenizer.encodePlain(text)) }))
    .filter(({ text, back }) => text !== back)
    .map(({ back }) => back);
  return { texts: texts.length, changed };
}
