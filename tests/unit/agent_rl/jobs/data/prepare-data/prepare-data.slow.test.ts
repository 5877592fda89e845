import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import type { SearchDocument } from '#agent_rl/core/services/search.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { webServer } from '#tests/support/web-server.ts';

const folder = temporaryFolder();
const fixture = join(import.meta.dirname, '../../../../../fixtures/medquad');
const server = webServer();
let outputs = 0;

interface TaskLine {
  task_id: string;
  answer: string;
  documents: readonly string[];
}

const linesOf = <Line>(output: string, name: string): Line[] =>
  readFileSync(join(output, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

const run = async (...args: readonly string[]) => {
  const output = join(folder, `out-${outputs++}`);
  const places = ['--output', output, '--cache-dir', join(folder, 'cache')];
  return { output, ...(await commandLine(['data', 'prepare', ...args, ...places], { jobs })) };
};

describe('prepare-data', () => {
  test('makes documents, passages and tasks of MedQuAD, and says what it left out', async () => {
    const { output, code, stdout, stderr } = await run(fixture, '--eval-share', '0.3');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // By hand: five files have pairs, 4 + 4 + 1 + 5 + 1 of them.
    const documents = linesOf<SearchDocument>(output, 'documents.jsonl');
    expect(documents).toHaveLength(5);
    const train = linesOf<TaskLine>(output, 'train.jsonl');
    const held = linesOf<TaskLine>(output, 'eval.jsonl');
    expect(train.length + held.length).toBe(15);
    expect(held.length).toBeGreaterThan(0);
    const texts = new Map(documents.map(({ id, text }) => [id, text]));
    for (const { answer, documents: ids } of [...train, ...held]) {
      expect(ids.some((id) => texts.get(id)?.includes(answer))).toBe(true);
    }
    const trained = new Set(train.flatMap(({ documents: ids }) => ids));
    expect(held.flatMap(({ documents: ids }) => ids).filter((id) => trained.has(id))).toEqual([]);
    expect(linesOf(output, 'dropped.jsonl')).toMatchObject([{ reason: 'no-pairs' }]);
    expect(stdout).toContain('1  no-pairs');
    const files = ['--dataset', join(output, 'train.jsonl'), '--documents'];
    const verify = ['data', 'verify', '--format', 'search', ...files];
    const verified = await commandLine([...verify, join(output, 'documents.jsonl')], { jobs });
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toContain(`${train.length} of ${train.length} tasks are sound`);
  });

  test('writes a report as JSON, and does not write over an earlier output or a file', async () => {
    const { output, stdout } = await run(fixture, '--json');
    const report: unknown = JSON.parse(readFileSync(join(output, 'report.json'), 'utf8'));
    expect(JSON.parse(stdout)).toEqual(report);
    const again = ['data', 'prepare', fixture, '--output', output];
    expect((await commandLine(again, { jobs })).stderr).toContain('OUTPUT_UNWRITABLE');
    expect((await commandLine([...again, '--overwrite'], { jobs })).code).toBe(0);
    const file = ['data', 'prepare', fixture, '--output', writeBelow(folder, 'a-file', 'hi')];
    const error = expect.stringMatching(/OUTPUT_UNWRITABLE.*a-file is a file/s);
    for (const args of [file, [...file, '--overwrite']])
      expect(await commandLine(args, { jobs })).toMatchObject({ code: 2, stderr: error });
  });

  test('fetches the pages that a table names, and drops questions whose page is not available', async () => {
    server.answer = ({ path }, response) => {
      const there = path === '/beans';
      response.writeHead(there ? 200 : 404, { 'content-type': 'text/html' });
      const text = '<p>Beans are the seeds of plants. They are eaten everywhere.</p>'.repeat(8);
      response.end(there ? `<html><title>Beans</title><body>${text}</body></html>` : '');
    };
    const text = ['beans', 'peas'].map((name) => {
      const page = `${server.origin}/${name}`;
      return JSON.stringify({ ask: `What are ${name}?`, reply: 'seeds', page });
    });
    const file = writeBelow(folder, 'pages.jsonl', text.join('\n'));
    const columns = '--column question=ask --column answer=reply --url-column page';
    const crawl = '--crawl --contact me@example.org --allow-private --requests-per-second 100';
    const { output, stderr } = await run(file, ...`${columns} ${crawl}`.split(' '));
    expect(stderr).toBe('');
    expect(linesOf(output, 'documents.jsonl')).toMatchObject([
      { title: 'Beans', url: `${server.origin}/beans`, text: expect.stringContaining('seeds') },
    ]);
    expect(linesOf(output, 'train.jsonl')).toMatchObject([{ question: 'What are beans?' }]);
    expect(linesOf(output, 'dropped.jsonl')).toMatchObject([
      { reason: 'page-client-error', where: `${server.origin}/peas` },
      { reason: 'document-dropped', where: `${file}:2` },
    ]);
  });

  test('leaves out what cannot be read only when asked to', async () => {
    const file = writeBelow(folder, 'mixed.jsonl', '{"text":"A text."}\nnot json\n');
    const strict = await run(file, '--column', 'text=text');
    expect(strict.code).toBe(2);
    expect(strict.stderr).toContain(`${file}:2: is not JSON`);
    expect(existsSync(strict.output)).toBe(false);
    const { output } = await run(file, '--column', 'text=text', '--skip-invalid');
    expect(linesOf(output, 'dropped.jsonl')).toMatchObject([
      { reason: 'unreadable-record', where: `${file}:2` },
    ]);
  });

  test.each([
    ['--crawl', '--contact is ""'],
    ['--column colour=x', '--column colour=x is not of the form FIELD=COLUMN'],
    ['--format csv', '--format csv is unknown'],
    ['--chunk-tokens 8', '--chunk-tokens is "8"'],
    ['--eval-share many', '--eval-share is "many"'],
    ['--hub-config x --tokenizer /none', 'TOKENIZER_INVALID'],
  ])('refuses %s with what is allowed', async (flags, message) => {
    const { code, stderr } = await run(fixture, ...flags.split(' '));
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('refuses a table whose columns are not named, and a source that is not there', async () => {
    const file = writeBelow(folder, 'plain.jsonl', '{"body":"A text."}\n');
    expect((await run(file)).stderr).toContain('--column question=query');
    expect((await run('/no/where.jsonl')).stderr).toContain('/no/where.jsonl does not exist');
  });
});
