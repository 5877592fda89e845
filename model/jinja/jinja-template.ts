/**
 * Chat templates as Python's Jinja 3.1 renders them with the settings of `transformers`: texts of the same characters, or an
 * error. What Jinja has and this does not is refused, when the template is parsed where its source shows it.
 */
import { Budget } from './budget.ts';
import { Evaluator } from './evaluator.ts';
import { globalsOf } from './library/globals.ts';
import { knownNames } from './library/names.ts';
import { Renderer } from './renderer.ts';
import { Scope } from './scope.ts';
import { checkNames } from './syntax/check-names.ts';
import { type HiddenNames, hiddenNames } from './syntax/hidden-names.ts';
import { parseTemplate } from './syntax/parse-template.ts';
import type { Block } from './syntax/nodes.ts';
import { valueOf } from './values/value.ts';

const longestSource = 2 ** 20;

export class JinjaTemplate {
  readonly #block: Block;
  readonly #hidden: HiddenNames;

  /** @throws SyntaxError for what cannot be parsed, or is not supported */
  constructor(source: string) {
    if (source.length > longestSource)
      throw new SyntaxError(
        `it has ${source.length} characters; at most ${longestSource} are allowed`,
      );
    this.#block = parseTemplate(source);
    checkNames(this.#block, knownNames);
    this.#hidden = hiddenNames(this.#block);
  }

  /**
   * @param values what the template may use, as JSON; numbers may be marked (`readMarked`)
   * @param date the day, YYYY-MM-DD, that it is
   * @throws Error as Python does, for what is not supported, and when it does more than its budget allows
   */
  render(values: Readonly<Record<string, unknown>>, date: string): string {
    const budget = new Budget(JSON.stringify(values).length);
    const scope = new Scope();
    for (const [name, value] of Object.entries(values)) scope.set(name, valueOf(value));
    const evaluator = new Evaluator(budget, globalsOf(date, budget));
    return new Renderer(evaluator, this.#hidden).template(this.#block, scope);
  }
}
