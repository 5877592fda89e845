import { join, relative } from 'node:path';

import { programPlugins } from '../../../config/index.ts';
import { settingsOfRuns } from '../../../config/settings-of.ts';
import { flatSettings } from '../../../runs/flat-settings.ts';
import { pathWord } from '../../../runs/run-folder.ts';
import { trainCall } from '../../code/call-instead.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import { type Section, text, cutText } from '../report.ts';
import { byRun, type Fact } from './by-run.ts';

const mostCharacters = 200;

/** How to make the runs again: command, settings, versions, machine, hashes. */
export function originSection(runs: readonly ReportedRun[]): Section {
  return {
    title: 'How it was made',
    blocks: [
      text('To run it again:'),
      { kind: 'lines', lines: runs.map(commandOf) },
      text('Settings that have no default, or that differ from their default:'),
      ...byRun(runs, 'Setting', changedSettings),
      ...byRun(runs, 'Versions and machine', machineFacts),
      ...byRun(runs, 'SHA-256', hashFacts),
    ],
  };
}

/** A path as it is shorter from here, if the run lies below. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

function commandOf({ folder, config, inputs }: ReportedRun): string {
  const { plugins } = config;
  const given = Array.isArray(plugins) ? programPlugins(plugins.map(String)) : [];
  if (given.length > 0) return trainCall(given);
  const threads = inputs?.machines?.at(-1)?.engineThreads;
  const isSet = flatSettings(config).some(([path]) => path === 'run.engineThreads');
  const flag = threads === undefined || isSet ? '' : ` --engine-threads ${threads}`;
  return `npx agent-rl train --config ${pathWord(shortPath(join(folder.path, 'config.yaml')))}${flag}`;
}

/** Where a run lies says nothing of how it was made. */
const places = new Set(['run.outputDir', 'run.name']);

function changedSettings({ config }: ReportedRun): Fact[] {
  const defaults = new Map(settingsOfRuns().map((setting) => [setting.path, setting.default]));
  return flatSettings(config).flatMap(([path, value]): Fact[] => {
    const json = JSON.stringify(value);
    const shown = typeof value === 'string' ? value : json;
    const usual = defaults.get(path.replaceAll(/\.\d+(?=\.|$)/g, '[]'));
    const isUsual = usual !== undefined && [json, shown].includes(usual);
    const isEmpty = json === '[]' || json === '{}';
    if (isUsual || isEmpty || places.has(path)) return [];
    return [[path, cutText(shown, mostCharacters)]];
  });
}

function machineFacts({ inputs, summary, log }: ReportedRun): Fact[] {
  const machines = summary?.machines ?? inputs?.machines ?? [];
  const each = (name: keyof (typeof machines)[number]): string | undefined =>
    machines.length === 0
      ? undefined
      : [...new Set(machines.map((one) => String(one[name])))].join(', then ');
  return [
    ['agent_rl', each('agentRl')],
    ['Node', each('node')],
    ['Device', each('device')],
    ['Engine threads', each('engineThreads')],
    ['System', each('platform')],
    ['Processor', each('cpu')],
    ['First entry of the log', log.began],
    ['Last entry of the log', log.ended],
  ];
}

const several = (name: string, hashes: readonly string[] = []): Fact[] =>
  hashes.map((hash, place) => [hashes.length > 1 ? `${name} ${place + 1}` : name, hash]);

function hashFacts({ inputs, summary }: ReportedRun): Fact[] {
  const { sha256, generators = [] } = inputs ?? {};
  return [
    ...several('Training tasks', sha256?.trainTasks),
    ...several('Held-out tasks', sha256?.evalTasks),
    ...generators.map(({ datasets, name, version, seed }): Fact => [
      `Task generator of datasets[${datasets}]`,
      `${name}, version ${version}, seed ${seed}`,
    ]),
    ['Starting model', sha256?.startModel],
    ...Object.entries(sha256?.policies ?? {}).map(([name, hash]): Fact => [
      `Starting model of policy ${name}`,
      hash,
    ]),
    ['Trained weights', summary?.weightsSha256],
  ];
}
