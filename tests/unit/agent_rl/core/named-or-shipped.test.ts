import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { namedOrShipped, packageRoot } from '#agent_rl/core/package-root.ts';

describe('namedOrShipped', () => {
  test('keeps a name if the file exists, or exists nowhere', () => {
    expect(namedOrShipped('package.json')).toBe('package.json');
    expect(namedOrShipped('dataset/no-such-file.jsonl')).toBe('dataset/no-such-file.jsonl');
    expect(namedOrShipped('/nowhere/tasks.jsonl')).toBe('/nowhere/tasks.jsonl');
  });

  test('finds a file in the package if the working folder lacks it', () => {
    const before = process.cwd();
    process.chdir('/');
    try {
      const file = 'dataset/search_corpus/documents.jsonl';
      expect(namedOrShipped(file)).toBe(join(packageRoot(), file));
    } finally {
      process.chdir(before);
    }
  });
});
