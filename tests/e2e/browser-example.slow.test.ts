import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { builtProgram } from '../support/built-program.ts';
import { browser, complaintsOf, hasChromium, seriousFaults } from '../support/chromium.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const title =
  'examples/browser (skipped without Chromium: apt-get install chromium, or CHROMIUM=PATH)';
const question = 'Who is the teacher of Mirperi?';

(hasChromium ? describe : describe.skip)(title, () => {
  const project = temporaryFolder();
  const opened = browser();
  const starter = join(packageRoot(), 'model', 'search-starter');
  let address = '';
  let server: ReturnType<typeof spawn>;

  beforeAll(async () => {
    cpSync(join(packageRoot(), 'examples', 'browser'), join(project, 'examples', 'browser'), {
      recursive: true,
    });
    for (const name of ['@huggingface/transformers', 'onnxruntime-common', 'onnxruntime-web'])
      cpSync(
        join(packageRoot(), 'node_modules', name, 'dist'),
        join(project, 'node_modules', name, 'dist'),
        { recursive: true },
      );
    const exporting = ['model', 'export', '--model', starter, '--output', 'my-model-onnx'];
    const exported = builtProgram('agent-rl', exporting, project);
    if (exported.code !== 0) throw new Error(exported.stderr);
    writeFileSync(join(project, '.secret'), 'no');
    mkdirSync(join(project, 'links'));
    symlinkSync('/etc/passwd', join(project, 'links', 'passwd'));
    server = spawn(process.execPath, ['examples/browser/serve.js', '0'], { cwd: project });
    const [line] = (await once(server.stdout!.setEncoding('utf8'), 'data')) as [string];
    address = line.trim();
  });
  afterAll(() => {
    server.kill();
  });

  test('an exported model gives the same answer in the browser as in Node', async () => {
    const asked = ['model', 'generate', '--model', starter, '--prompt', question, '--thinking'];
    const here = builtProgram('agent-rl', [...asked, '--temperature', '0'], project);
    expect(here.code).toBe(0);
    const page = await (await opened()).newPage();
    const complaints = await complaintsOf(page);
    await page.goto(new URL('/examples/browser/?model=my-model-onnx', address).href);
    const ready = async () => page.waitForSelector('#text:not([disabled])', { timeout: 120_000 });
    await ready();
    await page.fill('#text', question);
    await page.click('button');
    await ready();
    const said = await page.$$eval('#messages li span', (all) => all.map((one) => one.textContent));
    expect(said).toEqual([question, here.stdout.trim()]);
    expect(complaints).toEqual([]);
    expect(await seriousFaults(page)).toEqual([]);
    await page.close();
  });

  test('the page reports a missing model', async () => {
    const page = await (await opened()).newPage();
    await page.goto(new URL('/examples/browser/?model=nothing', address).href);
    await page.waitForFunction(
      `document.querySelector('#state').textContent !== 'Loading the model'`,
    );
    expect(await page.textContent('#state')).toContain('nothing');
    await page.close();
  });

  test.each(['/.secret', '/links/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/%', '/nothing'])(
    'the example server does not serve %s',
    async (path) => {
      expect((await fetch(new URL(path, address))).status).toBe(404);
    },
  );
});
