import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { TemplateSources } from './chat-template.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readJson } from '../config/read-json.ts';

const [templateFile, namedFolder, legacyFile] = [
  'chat_template.jinja',
  'additional_chat_templates',
  'chat_template.json',
];

/** Where model folders keep chat templates, besides tokenizer_config.json. */
export const templateFiles: readonly string[] = [templateFile, namedFolder, legacyFile];

type Named = Readonly<Record<string, string>>;

/**
 * The chat templates of a model folder. Looked for in this order, the first place that has any counts:
 * chat_template.jinja with additional_chat_templates/NAME.jinja; `chat_template` of tokenizer_config.json, a text or a
 * list of named ones; the same of chat_template.json. Of named templates `default` and `tool_use` are used.
 *
 * @throws AgentRlError `TOKENIZER_INVALID` without a template, or for named templates without a `default`.
 */
export async function templateSources(folder: string): Promise<TemplateSources> {
  const places = [
    () => fromFiles(folder),
    () => fromJson(path.join(folder, 'tokenizer_config.json')),
    () => fromJson(path.join(folder, legacyFile)),
  ];
  for (const place of places) {
    const { default: usual, tool_use: withTools, ...others } = await place();
    if (usual !== undefined) {
      return { default: usual, tool_use: withTools };
    }
    const names = [...(withTools ? ['tool_use'] : []), ...Object.keys(others)];
    if (names.length > 0) {
      throw invalid(
        `${folder} holds chat templates named ${names.join(', ')}, but none named default. Save the template for conversations as ${templateFile}.`,
      );
    }
  }
  throw invalid(
    `${folder} holds no chat template: expected ${templateFile}, or chat_template in tokenizer_config.json or ${legacyFile}. ` +
      `Base models have no chat template. Use a model that is tuned for chat, or save a chat template for this one as ${templateFile}.`,
  );
}

async function fromFiles(folder: string): Promise<Named> {
  const named: Record<string, string> = {};
  const more = path.join(folder, namedFolder);
  for (const file of existsSync(more) ? (await readdir(more)).toSorted() : []) {
    const { ext, name } = path.parse(file);
    if (ext === '.jinja') named[name] = await readFile(path.join(more, file), 'utf8');
  }
  const usual = path.join(folder, templateFile);
  return existsSync(usual) ? { ...named, default: await readFile(usual, 'utf8') } : named;
}

async function fromJson(file: string): Promise<Named> {
  if (!existsSync(file)) return {};
  const json = await readJson(file, 'TOKENIZER_INVALID');
  const template = isRecord(json) ? json['chat_template'] : undefined;
  if (typeof template === 'string') return { default: template };
  if (template === undefined || template === null) return {};
  const entries: readonly unknown[] = Array.isArray(template) ? template : [template];
  return Object.fromEntries(entries.map((entry) => namedEntry(entry, file)));
}

function namedEntry(entry: unknown, file: string): readonly [string, string] {
  const { name, template } = isRecord(entry) ? entry : {};
  if (typeof name === 'string' && typeof template === 'string') return [name, template];
  throw invalid(
    `${file}: its "chat_template" is neither a text nor a list of {"name": …, "template": …}.`,
  );
}

const invalid = (message: string): AgentRlError => new AgentRlError('TOKENIZER_INVALID', message);
