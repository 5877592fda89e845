import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { linesOf } from '#agent_rl/cli/command.ts';
import { commands } from '#agent_rl/cli/commands.ts';
import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { algorithmNames } from '#agent_rl/config/algorithm-presets.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { settingsOfRuns } from '#agent_rl/config/settings-of.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { metricDefinition } from '#agent_rl/telemetry/metric-names.ts';
import { publicExports } from '#scripts/docs/public-exports.ts';
import { commandLine } from '../support/command-line.ts';
import {
  codeBlocks,
  codeSpans,
  fileNameOf,
  markdownFiles,
  readDocument,
  shellCommands,
  tableBelow,
  userPages,
  withoutCodeBlocks,
} from '../support/markdown.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const propertiesOf = (schema: unknown): object => (schema as { properties: object }).properties;

const root = packageRoot();
const folder = temporaryFolder();
const plugins = builtinPlugins();

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

const linksOf = (markdown: string): string[] =>
  [...withoutCodeBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

describe.each(markdownFiles())('%s', (file) => {
  const text = readDocument(file);

  test('links only to existing files and headings', () => {
    const broken = linksOf(text).filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, linked))) return true;
      return anchor !== undefined && !anchors(readDocument(linked)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

/** Whether `npm pack` takes a file, by the patterns of package.json's `files`. */
function isShipped(path: string): boolean {
  const { files } = JSON.parse(readDocument('package.json')) as { files: string[] };
  if (files.includes(`!${path}`)) return false;
  return ['package.json', ...files].some((pattern) => {
    const [folderOf, ending] = pattern.split('/**/*');
    return ending === undefined
      ? path === pattern || path.startsWith(`${pattern}/`)
      : path.startsWith(`${folderOf}/`) && path.endsWith(ending);
  });
}

const shipped = markdownFiles().filter(isShipped);

test.each(shipped)('%s is shipped, and so is everything it links to', (file) => {
  const targets = linksOf(readDocument(file))
    .filter((target) => !/^[a-z]+:/.test(target) && !target.startsWith('#'))
    .map((target) => join(dirname(file), target.split('#')[0] ?? ''));
  expect(targets.filter((target) => !isShipped(target))).toEqual([]);
});

/** Options of other programs that the pages mention: pip's, npm's, Node's, the benches', the attack suite's, SkyRL's. */
const foreign = new Set(
  `
    --ctx-size --parallel --api-key --enable-lora --enable-scale-out --logprobs-mode --max-lora-rank
    --max-loras --max-logprobs --max-num-seqs --no-enable-chunked-prefill --chromium --logdir --no-deps --pack-destination
    --no-project --active --base-model --database-url --checkpoints-base --backend-config
    --onnxruntime-node-install --experimental-vm-modules --peers --repeats --medquad --questions
    --sizes --ignore-scripts --os --cpu --only --hnsw --sft-config --gsm --gguf --runs --seeds
    --starters --price --attempts --parts --backend --case --no-color --file --tag --parents
    --abort-on-container-exit --exit-code-from
  `
    .trim()
    .split(/\s+/),
);

const helps = new Map<string, Promise<string>>();
const helpOf = (...args: string[]): Promise<string> => {
  const key = args.join(' ');
  const help = helps.get(key) ?? commandLine([...args, '--help']).then(({ stdout }) => stdout);
  helps.set(key, help);
  return help;
};

const flagsIn = (text: string): string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))];

/** What a command line can call: `train`, `runs show`. */
const commandNames = linesOf(commands).map(([name]) => name);
const groups = new Set(commandNames.map((name) => name.split(' ')[0] ?? ''));

const allHelps = (): Promise<string[]> =>
  Promise.all(commandNames.map((name) => helpOf(...name.split(' '))));

const trainers = new Set(['train-code-exec-agent', 'train-search-agent']);

/** The words of the command that a command line runs: `train`, or `sandbox serve`. */
function commandOf(words: readonly string[]): string[] {
  const [program = '', name = '', inner = ''] = words;
  if (trainers.has(program)) return ['train'];
  return commandNames.includes(`${name} ${inner}`) ? [name, inner] : [name];
}

/** Words of a command line that are neither flags, nor their values, nor what the usage has a place for. */
function surplusOf(line: string, help: string, command: readonly string[]): string[] {
  const usage = help.split('\n')[0] ?? '';
  const named = usage.match(/[<[][a-z]+(?:\.\.)?[>\]]/gi) ?? [];
  // `<runs..>` has a place for any number of words.
  const places = named.some((place) => place.includes('..')) ? Infinity : named.length;
  const words = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).slice(2);
  const until = words.findIndex((word) => ['>', '|', '&&'].includes(word));
  const free = words.slice(0, until === -1 ? undefined : until).filter((word, index, all) => {
    if (word.startsWith('--')) return false;
    const flag = all[index - 1] ?? '';
    const takesValue = flag.startsWith('--') && !flag.includes('=');
    return !takesValue || new RegExp(`^ {2}${flag} .*\\[boolean\\]`, 'm').test(help);
  });
  const called = line.startsWith('npx agent-rl ') ? command.length : 0;
  return free.slice(called + places);
}

const settings = settingsOfRuns().map(({ path }) => path);
const settingBlocks = new Set(settings.map((name) => name.split('.')[0]?.replace('[]', '')));

/** Settings that environments, policies and parts of algorithms bring, as they stand in a run file. */
const pluginSettings = ((): string[] => {
  const { environments, policies, advantages, losses, selections, corrections } = plugins;
  const kinds = [
    ['environment', environments],
    ['policy', policies],
    ['algorithm.advantage', advantages],
    ['algorithm.loss', losses],
    ['algorithm.selection', selections],
    ['algorithm.correction', corrections],
  ] as const;
  return kinds.flatMap(([block, registry]) =>
    registry
      .names()
      .flatMap((name) =>
        Object.keys(propertiesOf(registry.get(name).spec.settings ?? { properties: {} })),
      )
      .map((key) => `${block}.${key}`),
  );
})();

const isSetting = (span: string): boolean =>
  settings.includes(span) ||
  pluginSettings.includes(span) ||
  settings.some((name) => name.startsWith(`${span}.`));

/** The run that a command line trains: named after its run file and its seed. */
function runMadeBy(command: string): string[] {
  const file = /^npx (?:agent-rl train|train-\S+) .*--config (configs\/\S+)\.yaml/.exec(
    command,
  )?.[1];
  if (file === undefined) return [];
  const { run } = loadConfig({ file: `${file}.yaml` }).config;
  return [`${basename(file)}-seed${/--seed (\d+)/.exec(command)?.[1] ?? run.seed}`];
}

test.each(['README.md', 'docs/getting-started.md'])(
  'every run that a command of %s names was created by an earlier command',
  (page) => {
    const made = new Set<string>();
    const unknown: string[] = [];
    for (const command of shellCommands(readDocument(page))) {
      for (const [, name = ''] of command.matchAll(/ runs\/([\w-]+)/g))
        if (!made.has(name)) unknown.push(command);
      runMadeBy(command).forEach((name) => made.add(name));
    }
    expect([unknown, made.size > 0]).toEqual([[], true]);
  },
);

describe.each(userPages())('%s', (page) => {
  const text = readDocument(page);

  test('mentions only existing flags', async () => {
    const known = new Set([...flagsIn((await allHelps()).join('\n')), ...foreign]);
    expect(flagsIn(text).filter((flag) => !known.has(flag))).toEqual([]);
  });

  test('shows existing commands', () => {
    const used = [...text.matchAll(/(?<![\w/])agent-rl ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)];
    const unknown = used.filter(([, name = '', inner]) => {
      if (commandNames.includes(name)) return false;
      return (
        !groups.has(name) || (inner !== undefined && !commandNames.includes(`${name} ${inner}`))
      );
    });
    expect(unknown.map(([line]) => line)).toEqual([]);
  });

  test('gives each command only its own flags and run files that exist or are shown', async () => {
    const shown = new Set(
      userPages().flatMap((other) => codeBlocks(readDocument(other)).map(fileNameOf)),
    );
    for (const line of shellCommands(text).filter((command) => command.startsWith('npx '))) {
      const words = line.split(/\s+/).slice(1);
      const command = commandOf(words);
      const help = await helpOf(...command);
      const known = flagsIn(help);
      const used = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
      expect({ line, unknown: used.filter((flag) => !known.includes(flag ?? '')) }).toEqual({
        line,
        unknown: [],
      });
      expect({ line, surplus: surplusOf(line, help, command) }).toEqual({ line, surplus: [] });
      const config = words[words.indexOf('--config') + 1] ?? '';
      const found = existsSync(join(root, config)) || shown.has(config);
      expect({ line, found: !words.includes('--config') || found }).toEqual({ line, found: true });
    }
  });

  test('names existing files and scripts', () => {
    const named =
      text.match(/\b(?:dist\/)?(?:configs|scripts|dataset|tests|agent_rl)\/[\w./-]+\.\w+/g) ?? [];
    // What is built has a source.
    const sources = named.map((file) => file.replace(/^dist\/(.*)\.js$/, '$1.ts'));
    expect(sources.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('names existing settings and metrics', () => {
    const dotted = codeSpans(text).filter((span) => /^[a-z]+(?:\.[a-zA-Z]+)+$/.test(span));
    // `eval` is also a key of summary.json.
    const files = ['run.log', 'run.lock', 'tools.json', 'train.jsonl', 'eval.jsonl'];
    const others = new Set(['eval.before', 'eval.after', ...files]);
    const unknown = dotted.filter(
      (span) => settingBlocks.has(span.split('.')[0]) && !isSetting(span) && !others.has(span),
    );
    expect(unknown).toEqual([]);
    const metrics = codeSpans(text).filter((span) =>
      // A rollout's name, `train/3/0/2/1`, is not a metric.
      /^(?!train\/\d)(?:rollout|group|outcome|busy|seconds|parity|environment|train|score)\/[\w/-]+$/.test(
        span,
      ),
    );
    expect(metrics.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
  });

  test('shows valid JSON', () => {
    for (const { text: json } of codeBlocks(text).filter(({ language }) => language === 'json')) {
      expect(() => JSON.parse(json) as unknown).not.toThrow();
    }
    const lines = codeBlocks(text).filter(({ language }) => language === 'jsonl');
    for (const line of lines.flatMap((block) => block.text.trim().split('\n'))) {
      expect(() => JSON.parse(line) as unknown).not.toThrow();
    }
  });

  test('shows valid run files and fragments', () => {
    const blocks = codeBlocks(text).filter(({ language }) => language === 'yaml');
    for (const [index, block] of blocks.entries()) {
      const value = parse(block.text) as Record<string, unknown>;
      // The settings of an index are not a run file's.
      if ('dense' in value) continue;
      const whole = runFileOf(value);
      const name = `${page.replaceAll('/', '-')}-${index}.yaml`;
      const loaded = loadConfig({ file: writeBelow(folder, name, stringify(whole)) });
      if (!('plugins' in value)) choosePlugins(loaded, plugins);
    }
  });
});

/** A run file of what a page shows: on top of the default run, with a tool that its environment needs. */
function runFileOf(value: Record<string, unknown>): Record<string, unknown> {
  const { extends: base = 'configs/code_exec_grpo.yaml', ...own } = value;
  const file = [base].flat().map((name) => join(root, String(name)));
  // An agent with a loop of its own has its tools.
  const environment = own['environment'] as { type?: string } | undefined;
  if (environment?.type === 'external') own['tools'] = [];
  const tools = own['tools'] as { type: string }[] | undefined;
  const complete = tools === undefined || 'extends' in value || 'environment' in value;
  if (complete || tools.some(({ type }) => type === 'code_exec')) return { extends: file, ...own };
  return { extends: file, ...own, tools: [...tools, { type: 'code_exec' }] };
}

/** The second column of these pages' tables names only what exists here. */
describe.each(['docs/coming-from-verl.md', 'docs/coming-from-trl.md'])('%s', (page) => {
  const text = readDocument(page);
  const registries = Object.values(plugins);
  const pluginNames = registries.flatMap((registry) => registry.names());
  const names = new Set([
    ...pluginNames,
    ...algorithmNames,
    'metrics.jsonl',
    'summary.json',
    'extends',
    'urls',
    '--resume',
    ...['agent_rl/index.ts', 'agent_rl/plugin.ts'].flatMap((entry) =>
      publicExports(entry).map(({ name }) => name),
    ),
    ...settingsOfRuns().flatMap(({ values = [] }) => values),
  ]);

  /** Whether a span of ours is a command, a setting with or without its value, a name that we export, or a file. */
  function isOurs(span: string): boolean {
    if (span.startsWith('agent-rl ')) return commandNames.includes(span.slice('agent-rl '.length));
    const [setting = ''] = span.split(': ');
    if (isSetting(setting) || isSetting(`${setting}[]`)) return true;
    return names.has(span) || existsSync(join(root, span));
  }

  test.each(['## Parts', '## Settings'])(
    'names a command, setting, file or export of ours in each row of %s',
    (heading) => {
      const rows = tableBelow(text, heading);
      const ours = rows.map(([, cell = '']) => codeSpans(cell));
      expect(rows.length).toBeGreaterThan(10);
      expect(rows.filter((_, index) => !ours[index]?.some(isOurs))).toEqual([]);
      // veRL's names of KL estimators, values of `algorithm.advantage.std`, fields of a row.
      const others = 'kl mse low_var_kl sample population reset prompt task_id'.split(' ');
      expect(ours.flat().filter((span) => !isOurs(span) && !others.includes(span))).toEqual([]);
    },
  );

  test('lists nothing as absent that is there', () => {
    const absent = tableBelow(text, '## What is absent').map(([cell = '']) => cell.toLowerCase());
    const present = [...pluginNames, ...algorithmNames].filter((name) =>
      absent.some((cell) => cell.split(/[^a-z0-9+_-]+/).includes(name)),
    );
    expect(absent.length).toBeGreaterThan(3);
    expect(present).toEqual([]);
  });
});

describe('The pages', () => {
  test('every page stays within its size limit', () => {
    // Comments say what figures rest on, and are not read.
    const read = (page: string) => readDocument(page).replaceAll(/<!--.*?-->\n*/g, '');
    const most = {
      'README.md': 9_000,
      'CHANGELOG.md': 6_000,
      'design.md': 20_000,
      'docs/benchmarks.md': 20_000,
      'docs/design/log.md': 80_000,
    };
    const bytesOf = (page: string): number => Buffer.byteLength(read(page));
    expect(Object.entries(most).filter(([page, bytes]) => bytesOf(page) > bytes)).toEqual([]);
    const all = markdownFiles().filter(
      (page) => /^(?:docs\/.*|[^/]*)$/.test(page) && page !== 'docs/design/log.md',
    );
    expect(all.map(bytesOf).reduce((sum, bytes) => sum + bytes)).toBeLessThanOrEqual(560_000);
    const guides = userPages().filter((page) => /^docs\/(guides|tutorials)\//.test(page));
    const long = guides.filter((page) => read(page).split('\n').length > 250);
    expect(long).toEqual([]);
  });

  test('every page appears in the index exactly once', () => {
    const pages = markdownFiles().filter((path) => path.startsWith('docs/') && isShipped(path));
    const listed = linksOf(readDocument('docs/README.md')).map((target) => join('docs', target));
    expect(listed.toSorted()).toEqual(
      [...pages.filter((path) => path !== 'docs/README.md'), 'design.md'].toSorted(),
    );
  });

  test.each(userPages().filter((page) => !page.endsWith('README.md')))(
    'the page %s opens with an example',
    (page) => {
      const text = readDocument(page);
      const [opening = ''] = text.split(/^(?:## |\|)/m);
      expect(codeBlocks(opening)).not.toEqual([]);
    },
  );
});

test('the introduction shows a run file with a weighted reward', () => {
  const blocks = codeBlocks(readDocument('docs/getting-started.md'));
  const block = blocks.find((candidate) => fileNameOf(candidate) === 'my_run.yaml');
  const text = block?.text.replace('configs/', `${root}/configs/`) ?? '';
  const loaded = loadConfig({ file: writeBelow(folder, 'my_run.yaml', text) });
  expect(choosePlugins(loaded, plugins).rewards[0]?.weight).toBe(0.5);
});
