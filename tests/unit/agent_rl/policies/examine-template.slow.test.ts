import { describe, expect, test } from '@jest/globals';

import type { ToolCallFormat } from '#agent_rl/core/plugins/tool-call-format.ts';
import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { openToolCallFormat } from '#agent_rl/compose/plugins/open-tool-call-format.ts';
import { examineTemplate } from '#agent_rl/policies/examine-template.ts';
import {
  HermesFormat,
  Llama3Format,
  PlainFormat,
  PythonBlockFormat,
} from '#agent_rl/policies/index.ts';
import { CodeExecTool } from '#agent_rl/plugin.ts';
import { tools } from '#agent_rl/core/plugins/tool.ts';
import type { LanguageModel } from '#model/text/language-model.ts';
import { miniMind3 } from '#tests/support/minimind3.ts';
import { qwen3 } from '#tests/support/qwen3.ts';
import {
  llamaModel,
  modelWithTemplate,
  plainTemplate,
  qwen25Template,
} from '#tests/support/templates.ts';

const qwen = await qwen3();
const { model: miniMind } = await miniMind3();
const llama = llamaModel();
const qwen25 = modelWithTemplate(qwen25Template);
const plain = modelWithTemplate(plainTemplate);
const date = '2024-07-26';

const examined = (model: LanguageModel, format: ToolCallFormat, thinking = false) =>
  examineTemplate(model, format, { thinking, date });

test('a template that renders equally as a whole and in pieces is used without notes', () => {
  const silent = { resultsAs: 'tool', writesCalls: true, notes: [] };
  expect(examined(qwen25, new HermesFormat())).toEqual(silent);
  expect(examined(miniMind, new HermesFormat())).toEqual(silent);
});

test('a template that renders equally as a whole and in pieces is reported if it uses the date', () => {
  const { notes, ...use } = examined(llama, new Llama3Format({ settings: {} }));
  expect(use).toEqual({ resultsAs: 'tool', writesCalls: true });
  expect(notes).toEqual([expect.stringMatching(/2024-07-26 \(policy\.templateDate\)/)]);
});

describe('A template that renders earlier turns differently', () => {
  test.each([
    ['the empty thought of the cue', false, String.raw`"<think>\n\n</think>\n\n" becomes nothing`],
    ['thoughts', true, 'That is easy.'],
  ])('is used with one note: %s', (_, thinking, shown) => {
    const { notes } = examined(qwen, new HermesFormat(), thinking);
    expect(notes).toEqual([expect.stringContaining(shown)]);
    expect(notes[0]).toMatch(thinking ? /After another message of the user/ : /an earlier turn/);
  });

  test('is used with a note that given turns which do not follow its cue cannot be rendered', () => {
    const opening = plainTemplate.replace(
      "assistant\\n' }}{%- endif",
      "assistant\\n<think>\\n' }}{%- endif",
    );
    const { notes } = examined(modelWithTemplate(opening), new PlainFormat(), true);
    expect(notes.join('\n')).toMatch(/cannot be used for data with assistant turns/);
  });
});

describe('A template to which no text can be appended', () => {
  const shown = (user: string) =>
    `(message.content if message.role == 'assistant' else ${user} '') +`;
  const dependent = /depending on the earlier messages/;
  const unlike = /does not show the content of message 1 \(user\) exactly once and in order/;
  test.each([
    [
      'numbers messages',
      ["message.role + '\\n'", "message.role + ' ' + loop.index | string + '\\n'"],
      /after a single question as "3", but in the first turn as "4"/,
    ],
    [
      'shows tools in the last message',
      [
        'message.content +',
        "(tools | tojson if tools and loop.last and messages | length < 5 else '') + message.content +",
      ],
      dependent,
    ],
    [
      'shows messages twice',
      ['message.content +', shown("message.content + '|' + message.content +")],
      unlike,
    ],
    ['shows messages not at all', ['message.content +', shown("'' +")], unlike],
  ] as const)('is refused: it %s', (_, [from, to], reason) => {
    const template = plainTemplate.replace(from, to);
    expect(template).not.toBe(plainTemplate);
    expect(() => examined(modelWithTemplate(template), new PlainFormat())).toThrow(reason);
  });
});

describe('A template without a role', () => {
  test('results without a role are they become user messages, with a note', () => {
    const { notes, ...use } = examined(plain, new PythonBlockFormat({ settings: {} }));
    expect(use).toEqual({ resultsAs: 'user', writesCalls: false });
    expect(notes).toEqual([
      expect.stringMatching(
        /does not accept tool results .*no role tool.*they become user messages/,
      ),
      expect.stringMatching(/environment\.systemPrompt/),
    ]);
  });

  test('a template without tools is reported, and can be used without tools', () => {
    const refusing = `{%- if tools %}{{- raise_exception('no tools here') }}{%- endif %}${plainTemplate}`;
    const { notes } = examined(modelWithTemplate(refusing), new PlainFormat());
    expect(notes[0]).toMatch(
      /does not accept tools \(.*no tools here.*\): a run with tools cannot/,
    );
  });

  test('a template without system messages is reported', () => {
    const model = modelWithTemplate(plainTemplate.replace("['system', ", '['));
    const { notes } = examined(model, new PlainFormat());
    expect(notes.join('\n')).toMatch(/does not accept a system message \(.*no role system/);
  });
});

describe('The tool-call format auto', () => {
  const plugins = builtinPlugins();
  const codeExec = {
    entry: plugins.tools.get(tools.specOf(CodeExecTool)?.name ?? ''),
    settings: {},
  };
  const found = (model: LanguageModel, hasTools = true) =>
    openToolCallFormat({
      chosen: { tools: hasTools ? [codeExec] : [], toolCallFormat: undefined },
      plugins,
      model,
    });

  test("is inferred from the template's rendering of a call", () => {
    for (const model of [qwen, qwen25, miniMind]) expect(found(model)).toBeInstanceOf(HermesFormat);
    expect(found(llama)).toBeInstanceOf(Llama3Format);
  });

  test('is inferred from Python blocks in the template', () => {
    const answering = "'{# answer in ```python #}<|im_start|>' +";
    const showing = plainTemplate.replace("'<|im_start|>' +", answering);
    expect(found(modelWithTemplate(showing))).toBeInstanceOf(PythonBlockFormat);
  });

  test('is an error if the template matches no format or several', () => {
    expect(() => found(plain)).toThrow(/is auto, .*hermes, llama3, plain, python-block/);
    const both = qwen25Template.replace('You help.', 'Answer in ```python.');
    expect(() => found(modelWithTemplate(both))).toThrow(/hermes and python-block/);
  });

  test('is plain without tools', () => {
    expect(found(plain, false)).toBeInstanceOf(PlainFormat);
    expect(found(qwen, false)).toBeInstanceOf(HermesFormat);
  });

  test('is refused at the start if the tools cannot be called in the format', () => {
    const toolCallFormat = { entry: plugins.toolCallFormats.get('python-block'), settings: {} };
    expect(() =>
      openToolCallFormat({ chosen: { tools: [], toolCallFormat }, plugins, model: plain }),
    ).toThrow(/"python-block" cannot be used with the tools of this run: the run has no tools/);
  });
});
