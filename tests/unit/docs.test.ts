import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { builtinPlugins } from '../../agent_rl/compose/plugins/builtin-plugins.ts';
import { choosePlugins } from '../../agent_rl/compose/plugins/choose-plugins.ts';
import { evaluationSummary, summaryOf } from '../../agent_rl/runs/summary.ts';
import { loadConfig } from '../../agent_rl/config/index.ts';
import { outcomes } from '../../agent_rl/core/outcome.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { keepLedger } from '../../agent_rl/rollout/ledger.ts';
import { ChunkingSettings } from '../../agent_rl/search/corpus/settings.ts';
import { WebSearchSettings } from '../../agent_rl/search/web/index.ts';
import { metricDefinition } from '../../agent_rl/telemetry/metric-names.ts';
import { noTotals } from '../../agent_rl/trainer/trainer-contracts.ts';
import { commandLine } from '../support/command-line.ts';
import {
  codeBlocks,
  codeSpans,
  markdownFiles,
  readDocument,
  tableBelow,
  withoutCodeBlocks,
} from '../support/markdown.ts';
import { settingsRows } from '../support/settings-table.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const root = packageRoot();
const readme = readDocument('README.md');
const folder = temporaryFolder();

/** A heading's anchor, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const anchors = (markdown: string): string[] =>
  [...withoutCodeBlocks(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    anchorOf(heading),
  );

describe.each(markdownFiles())('%s', (file) => {
  const text = readDocument(file);
  const links = [...withoutCodeBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, target = '']) => target,
  );

  test('links only to files and headings that exist', () => {
    const broken = links.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, linked))) return true;
      return anchor !== undefined && !anchors(readDocument(linked)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

/** Options of other programs that README mentions: an install script's, pip's, Node's, the bench's, the attack suite's. */
const foreign = new Set([
  '--no-deps',
  '--onnxruntime-node-install',
  '--experimental-vm-modules',
  '--peers',
  '--medquad',
  '--sizes',
  '--ignore-scripts',
  '--os',
  '--cpu',
  '--only',
  '--hnsw',
  '--sft-config',
  '--backend',
  '--case',
]);

const helpOf = async (...args: string[]): Promise<string> =>
  (await commandLine([...args, '--help'])).stdout;

const flagsIn = (text: string): string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))];

/** The commands, as the help lists them. */
const commandNames = async (): Promise<string[]> =>
  [...(await helpOf()).matchAll(/^ {2}agent-rl ([a-z][a-z-]*)/gm)].map(([, name = '']) => name);

/** Help of all commands, of those within others too. */
const allHelps = async (): Promise<string[]> => {
  const helps = await Promise.all((await commandNames()).map((name) => helpOf(name)));
  const within = [...helps.join('\n').matchAll(/^ {2}agent-rl ([a-z-]+) ([a-z-]+) {2}/gm)];
  const more = within.map(([, group = '', name = '']) => helpOf(group, name));
  return [...helps, ...(await Promise.all(more))];
};

/** Flags of every program that have nothing to do with training. */
const general = new Set(['--help', '--version']);

describe('README', () => {
  test('mentions only flags that exist', async () => {
    const helps = await allHelps();
    const known = new Set([...flagsIn(helps.join('\n')), ...foreign]);
    expect(flagsIn(readme).filter((flag) => !known.has(flag))).toEqual([]);
  });

  test('has all flags of training in its table', async () => {
    const rows = tableBelow(readme, '### Train the default agent').flatMap(([cell = '']) =>
      codeSpans(cell).map((span) => span.split(' ')[0] ?? ''),
    );
    // The examples of --help's text are not flags.
    const flags = [...(await helpOf('train')).matchAll(/^ {2}(--[a-z-]+)/gm)].map(
      ([, flag = '']) => flag,
    );
    expect(rows.toSorted()).toEqual(flags.filter((flag) => !general.has(flag)).toSorted());
  });

  test('gives commands that exist', async () => {
    const used = [...readme.matchAll(/agent-rl ([a-z][a-z-]*)/g)].map(([, name = '']) => name);
    const names = await commandNames();
    expect(used.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('names files and scripts that exist', () => {
    const named =
      readme.match(/\b(?:dist\/)?(?:configs|scripts|dataset|tests)\/[\w./-]+\.\w+/g) ?? [];
    // What is built has a source.
    const sources = named.map((file) => file.replace(/^dist\/(.*)\.js$/, '$1.ts'));
    expect(sources.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('names settings and metrics that exist', () => {
    const settings = settingsRows().map(([name = '']) => name.replaceAll('`', ''));
    const blocks = new Set(settings.map((name) => name.split('.')[0]?.replace('[]', '')));
    const dotted = codeSpans(readme).filter((span) => /^[a-z]+(?:\.[a-zA-Z]+)+$/.test(span));
    const ofPlugins = new Set([
      'environment.systemPrompt',
      'policy.thinking',
      'policy.templateDate',
      'policy.dtype',
    ]);
    // `eval` is also a key of summary.json.
    const files = ['run.log', 'run.lock', 'train.jsonl', 'eval.jsonl'];
    const others = new Set(['eval.before', 'eval.after', ...files]);
    const unknown = dotted.filter(
      (span) =>
        blocks.has(span.split('.')[0]) &&
        !settings.includes(span) &&
        !ofPlugins.has(span) &&
        !others.has(span) &&
        !settings.some((name) => name.startsWith(`${span}.`)),
    );
    expect(unknown).toEqual([]);
    const metrics = readme.match(/\b(?:rollout|group|outcome|busy|seconds|parity)\/[a-zA-Z-]+/g);
    expect(metrics?.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
  });

  test('shows JSON and task lines that can be read', () => {
    for (const { text } of codeBlocks(readme).filter(({ language }) => language === 'json')) {
      expect(() => JSON.parse(text) as unknown).not.toThrow();
    }
  });

  test('shows a run file that is valid', () => {
    const block = codeBlocks(readme).find(({ text }) => text.startsWith('# my_run.yaml'));
    const text = block?.text.replace('configs/', `${root}/configs/`) ?? '';
    const loaded = loadConfig({ file: writeBelow(folder, 'my_run.yaml', text) });
    expect(choosePlugins(loaded, builtinPlugins()).rewards[0]?.weight).toBe(0.5);
  });
});

test('the table of settings is that of the schema', () => {
  const rows = tableBelow(readDocument('configs/SETTINGS.md'), '## Table');
  expect(rows).toEqual(settingsRows());
});

test("README lists every key of a run's summary", () => {
  const result = { state: { iteration: 0, totals: noTotals }, interrupted: false };
  const facts = { usage: { memory: {}, generation: {} } };
  const keys = Object.keys(summaryOf(result as never, facts as never)).filter(
    (key) => key !== 'eval',
  );
  const inside = Object.keys(evaluationSummary({} as never));
  const listed = codeSpans(readme);
  expect([...keys, ...inside].filter((key) => !listed.includes(key))).toEqual([]);
});

describe('design.md', () => {
  const design = readDocument('design.md');

  test('says of every outcome and every bucket of the ledger what it means', () => {
    const rows = tableBelow(design, '### Outcomes').flatMap(([name = '']) => codeSpans(name));
    expect(rows.toSorted()).toEqual(outcomes.toSorted());
    const fates = Object.keys(keepLedger([], 0).tokens);
    expect(fates.filter((fate) => !codeSpans(design).includes(fate))).toEqual([]);
  });

  test('sends the settings of earlier systems to ones that exist', () => {
    const known = settingsRows().map(([name = '']) => name.replaceAll('`', ''));
    const plugins = builtinPlugins();
    const ofPlugins = [
      ...Object.keys(propertiesOf(plugins.environments.get('code_exec').spec.settings)).map(
        (name) => `environment.${name}`,
      ),
      ...Object.keys(propertiesOf(plugins.policies.get('minimind').spec.settings)).map(
        (name) => `policy.${name}`,
      ),
      ...Object.keys(WebSearchSettings.properties).map((name) => `web.${name}`),
      ...Object.keys(ChunkingSettings.properties).map((name) => `chunking.${name}`),
    ];
    const headings = [...design.matchAll(/^\*\*System \d+\*\* .*$/gm)].map(([line]) => line);
    const rows = headings.flatMap((heading) => tableBelow(design, heading));
    const ours = rows.flatMap(([, cell = '']) => codeSpans(cell));
    const settings = ours.filter((span) => /^[a-z]+(?:\[\])?\.[\w.]+$/.test(span));
    expect(headings).toHaveLength(4);
    expect(
      settings.filter(
        (name) => ![...known, ...ofPlugins].includes(name) && !existsSync(join(root, name)),
      ),
    ).toEqual(['metrics.jsonl']);
    const vague = rows.filter(
      ([, cell = '']) => codeSpans(cell).length === 0 && !/because|the same flags/.test(cell),
    );
    expect(vague).toEqual([]);
  });

  test('names files of papers that exist', () => {
    const files = tableBelow(design, '## Papers').flatMap(([, where = '']) => codeSpans(where));
    const missing = files.filter((file) =>
      ['agent_rl', '.'].every((top) => !existsSync(join(root, top, file))),
    );
    expect(missing).toEqual([]);
  });

  test('has a row for every dependency', () => {
    const ours = JSON.parse(readDocument('package.json')) as Record<string, object>;
    const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies'];
    const rows = tableBelow(design, '## Dependencies').flatMap(([name = '']) => codeSpans(name));
    expect(rows.toSorted()).toEqual(
      kinds.flatMap((kind) => Object.keys(ours[kind] ?? {})).toSorted(),
    );
  });
});

const propertiesOf = (schema: unknown): object => (schema as { properties: object }).properties;

const configs = readdirSync(join(root, 'configs')).filter((name) => name.endsWith('.yaml'));

test.each(configs)('configs/%s can be run', (name) => {
  const loaded = loadConfig({ file: join(root, 'configs', name) });
  expect(() => choosePlugins(loaded, builtinPlugins())).not.toThrow();
});
