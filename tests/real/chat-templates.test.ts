import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { messageOf } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readMarked } from '#agent_rl/core/python/python-json.ts';
import { ChatTemplate } from '#model/text/chat-template.ts';
import { type JinjaOracle, jinjaOracle, type Rendering } from '../support/jinja-oracle.ts';
import { ran } from '../support/ran.ts';
import { pythonWith } from '../support/real-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// The chat templates that TRL and llama.cpp ship, with 20 conversations each, rendered by transformers, by the oracle of our
// tests and by us. AGENT_RL_TRANSFORMERS_PYTHON names a Python with transformers; otherwise python3 installs it from PyPI,
// without PyTorch. The templates come from PyPI too, 77 MB.

interface Published {
  name: string;
  source: string;
  renderings: Rendering[];
}

type Json = Readonly<Record<string, unknown>>;

const folder = temporaryFolder();
const file = join(packageRoot(), 'tests', 'fixtures', 'jinja', 'conversations.jsonl');
const conversations = readFileSync(file, 'utf8').trimEnd().split('\n');
let oracle: JinjaOracle;
let published: readonly Published[];

beforeAll(async () => {
  const archives = join(folder, 'archives');
  const pip = '-m pip --quiet --no-cache-dir download --no-deps --dest'.split(' ');
  const download = [...pip, archives];
  ran('python3', [...download, 'trl==1.16.0']);
  ran('python3', [...download, '--no-binary', 'llama-cpp-python', 'llama-cpp-python==0.3.36']);
  const packages = ['transformers==5.24.0', 'jinja2==3.1.6'];
  const python = pythonWith('AGENT_RL_TRANSFORMERS_PYTHON', folder, packages);
  const script = join(packageRoot(), 'tests', 'support', 'render_published_templates.py');
  const paths = readdirSync(archives).map((name) => join(archives, name));
  const output = join(folder, 'renderings.json');
  ran(python, [script, output, file, ...paths]);
  published = JSON.parse(readFileSync(output, 'utf8')) as Published[];
  oracle = await jinjaOracle();
});

afterAll(() => oracle.close());

/** The renderings that differ from transformers, in words; an error is one whatever it says. */
function different({ name, renderings }: Published, theirs: readonly Rendering[]) {
  return renderings.flatMap((python, at) => {
    const other = theirs[at] ?? { error: 'nothing' };
    const text = (one: Rendering) => ('text' in one ? one.text : undefined);
    if (text(python) === text(other)) return [];
    const where = `${name}, conversation ${at + 1}`;
    return [`${where}\n${parting(python, other)}\n${parting(other, python)}`];
  });
}

/** An error, or a text from where it differs from another. */
function parting(one: Rendering, other: Rendering): string {
  if ('error' in one) return one.error;
  let start = 0;
  if ('text' in other) while (one.text[start] === other.text[start]) start++;
  return JSON.stringify(one.text.slice(Math.max(0, start - 40), start + 80));
}

test('the fixtures hold at least 60 templates and 20 conversations', () => {
  expect(published.length).toBeGreaterThanOrEqual(60);
  expect(conversations).toHaveLength(20);
});

test('the oracle renders what transformers renders', async () => {
  for (const template of published) {
    const { source } = template;
    const theirs = await oracle.renderAll(conversations.map((values) => ({ source, values })));
    expect(different(template, theirs)).toEqual([]);
  }
});

test('a published template renders what transformers renders', () => {
  for (const template of published) {
    const ours = conversations.map((line) => rendering(template.source, line));
    expect(different(template, ours)).toEqual([]);
  }
});

/** Our rendering of a conversation, which is JSON text. */
function rendering(source: string, line: string): Rendering {
  const conversation = readMarked(line) as Json & { messages: Json[]; tools: Json[] | null };
  const { messages, tools, enable_thinking: thinking } = conversation;
  const names = Object.entries(conversation).filter(([name]) => name.endsWith('_token'));
  const options = {
    addGenerationPrompt: conversation['add_generation_prompt'] === true,
    ...(typeof thinking === 'boolean' && { thinking }),
  };
  try {
    const template = new ChatTemplate(source, Object.fromEntries(names) as Record<string, string>);
    return { text: template.renderRaw(messages, tools ?? undefined, options) };
  } catch (cause) {
    return { error: messageOf(cause) };
  }
}
