#!/usr/bin/env node
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { build } from 'esbuild';

import { packageRoot } from '../agent_rl/core/package-root.ts';

/** Packages whose code ends up in the bundle. */
const bundled = ['preact', 'uplot'];

const root = packageRoot();
const source = join(root, 'agent_rl', 'page');
const target = join(root, 'dist', 'agent_rl', 'page');

/** Bundles the page of `agent-rl view` into three files that need nothing else, with the licences of what is in them. */
async function buildPage(): Promise<void> {
  await build({
    entryPoints: [
      { in: join(source, 'main.tsx'), out: 'page' },
      { in: join(source, 'styles', 'page.css'), out: 'page' },
    ],
    outdir: target,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  copyFileSync(join(source, 'page.html'), join(target, 'page.html'));
  writeFileSync(join(target, 'licences.txt'), bundled.map(licenceOf).join('\n'));
}

function licenceOf(name: string): string {
  const folder = dirname(createRequire(join(root, 'package.json')).resolve(`${name}/package.json`));
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`;
}

await buildPage();
