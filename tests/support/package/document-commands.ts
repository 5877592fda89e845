import { codeBlocks, fileNameOf, readDocument, shellCommands, userPages } from '../markdown.ts';
import { writeBelow } from '../temporary-folder.ts';

/** Pages whose commands are run, and which of them: quick ones that need no network and no earlier run. */
const chosen: Readonly<Record<string, RegExp>> = {
  'docs/getting-started.md': /--dry-run$/,
  'docs/guides/datasets.md': /my_tasks/,
  'docs/guides/environments.md': /guess\.yaml/,
  'docs/guides/rewards.md': /--dry-run$/,
  'docs/guides/tools.md': /plugins/,
  'docs/guides/corpus-and-web.md': /index dataset|my_search/,
  'docs/tutorials/search-agent.md': /--dry-run$|data verify/,
};

/** Commands of the pages, to be run in a project that installed the package. */
export const documentCommands: readonly string[] = Object.entries(chosen).flatMap(
  ([page, pattern]) =>
    shellCommands(readDocument(page)).filter(
      (command) => command.startsWith('npx agent-rl ') && pattern.test(command),
    ),
);

const firstLines = (page: string): string =>
  codeBlocks(readDocument(page)).find(({ language }) => language === 'jsonl')?.text ?? '';

/** Writes the plugins, run files and tasks that the pages show. */
export function writePageFiles(folder: string): void {
  for (const page of userPages()) {
    for (const block of codeBlocks(readDocument(page))) {
      const name = fileNameOf(block);
      if (name !== undefined && !name.endsWith('.test.ts')) writeBelow(folder, name, block.text);
    }
  }
  const guess = firstLines('docs/guides/environments.md');
  writeBelow(folder, 'guess_tasks/train.jsonl', guess);
  writeBelow(folder, 'guess_tasks/eval.jsonl', guess.replace('g1', 'g2').replace('20', '30'));
  const double = firstLines('docs/guides/datasets.md');
  const triple = double.replace('double-1', 'triple-1').replace('its double', 'twice it');
  // Verifying takes seconds for every hundred tasks.
  for (const split of ['train', 'eval']) {
    const tasks = readDocument(`dataset/search_tasks/${split}.jsonl`).split('\n').slice(0, 24);
    writeBelow(folder, `dataset/search_tasks/${split}.jsonl`, tasks.join('\n'));
  }
  writeBelow(folder, 'my_tasks/train.jsonl', double);
  writeBelow(folder, 'my_tasks/eval.jsonl', triple);
}
