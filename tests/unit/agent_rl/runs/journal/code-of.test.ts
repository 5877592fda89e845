import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { codeOf } from '#agent_rl/runs/journal/code-of.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();

test('the hash of plugins changes with a file that another file of theirs imports', () => {
  const index = writeBelow(folder, 'index.ts', "export * from './tool.ts';\n");
  writeBelow(folder, 'tool.ts', "const { f } = await import('./deep/helper.js');\n");
  writeBelow(folder, join('deep', 'helper.ts'), "import '../index.ts';\nexport const f = 1;\n");
  writeBelow(folder, 'beside.ts', '1');
  const before = codeOf([index, 'a-package']);
  writeBelow(folder, 'beside.ts', '2');
  expect(codeOf([index, 'a-package'])).toBe(before);
  writeBelow(folder, join('deep', 'helper.ts'), "import '../index.ts';\nexport const f = 2;\n");
  expect(codeOf([index, 'a-package'])).not.toBe(before);
});
