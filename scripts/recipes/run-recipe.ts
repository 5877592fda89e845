import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { errorText, exitCodeOf, interrupted } from '../../agent_rl/cli/exit-code.ts';
import { tuneV8 } from '../../agent_rl/cli/tune-v8.ts';
import { note, writeReport } from '../bench/bench-run.ts';

/** What a recipe knows so far. */
export interface RecipeReport {
  markdown: string;
  result: object;
}

/** Runs a recipe to its end or until Ctrl-C. Each report replaces the last one in `out` and is printed. */
export async function runRecipe(
  out: string,
  recipe: (signal: AbortSignal) => AsyncIterable<RecipeReport>,
): Promise<void> {
  tuneV8();
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  const { signal } = interrupt;
  try {
    for await (const { markdown, result } of recipe(signal)) {
      writeReport(path.join(out, 'report.json'), result);
      await writeFile(path.join(out, 'report.md'), markdown);
      process.stdout.write(markdown);
    }
  } catch (thrown) {
    note(
      signal.aborted ? 'Interrupted. Run the same command again to continue.' : errorText(thrown),
    );
    process.exitCode = signal.aborted ? interrupted : exitCodeOf(thrown);
  }
}
