import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { exportModel } from '#agent_rl/jobs/models/export-model.ts';
import { importGguf } from '#agent_rl/jobs/models/import-gguf.ts';
import { loadModel } from '#model/weights/load-model.ts';
import { smallModelConfig, writeSmallModel } from '#tests/support/small-model.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const model = join(folder, 'model');
const { signal } = new AbortController();
const exported = (name: string, format: string) =>
  exportModel({ model, onnx: join(folder, name), format, signal, print: () => undefined });

test('an untied model has a head that equals its embedding, and all else as it was', async () => {
  await writeSmallModel(model, { ...smallModelConfig, tiedEmbeddings: true });
  await exported('untied', 'untied');
  const [before, after] = [await loadModel(model), await loadModel(join(folder, 'untied'))];
  expect(after.config).toEqual({ ...before.config, tiedEmbeddings: false });
  expect(after.parameters.get('lm_head.weight')).toEqual(
    before.parameters.get('model.embed_tokens.weight'),
  );
  for (const [name, values] of before.parameters)
    expect(after.parameters.get(name)).toEqual(values);
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    expect(existsSync(join(folder, 'untied', name))).toBe(true);
});

test('an existing folder is not overwritten, and other formats are refused', async () => {
  await writeSmallModel(model);
  expect(await rejectionOf(exported('model', 'untied'))).toMatchObject({
    code: 'OUTPUT_UNWRITABLE',
  });
  expect((await rejectionOf(exported('other', 'gguf'))).message).toBe(
    '--format is "gguf"; expected onnx, embedder or untied.',
  );
});

test('an embedding model becomes a folder for dense without adapters, and what to set is said', async () => {
  const bert = join(packageRoot(), 'tests', 'fixtures', 'tiny-bert');
  const said: string[] = [];
  const print = (text: string): void => void said.push(text);
  const onnx = join(folder, 'embedder');
  const given = { model: bert, format: 'embedder', onnx, signal, print };
  expect(await exportModel(given)).toMatchObject({ onnx, pooling: 'mean' });
  expect(existsSync(join(onnx, 'onnx', 'model.onnx'))).toBe(true);
  expect(said.join('\n')).toContain('embeds the first 10 tokens');
  expect(said.join('\n')).toContain(`{type: transformers, model: ${onnx}, pooling: mean}`);
  const adapted = exportModel({ ...given, onnx: join(folder, 'adapted'), adapters: ['some'] });
  expect((await rejectionOf(adapted)).message).toContain('--format embedder takes no adapters');
});

const root = temporaryFolder();

/** Before the model is read: there is no file of it. */
const imported = (chatTemplate: string) =>
  importGguf({
    file: join(root, 'none.gguf'),
    folder: join(root, 'model'),
    chatTemplate,
    signal,
    print: () => undefined,
  });

test.each([
  ['is not there', () => join(root, 'none.jinja'), 'CONFIG_INVALID', '--chat-template'],
  [
    'cannot be parsed',
    () => writeBelow(root, 'broken.jinja', '{% for message in messages %}'),
    'TOKENIZER_INVALID',
    'cannot be parsed',
  ],
])('a chat template that %s is refused before the model is read', async (_, file, code, text) => {
  const failure = imported(file());
  await expect(failure).rejects.toMatchObject({ code });
  await expect(failure).rejects.toThrow(text);
  expect(existsSync(join(root, 'model'))).toBe(false);
});
