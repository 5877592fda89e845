import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { type Message, type ToolMessage, user } from '#agent_rl/core/message.ts';
import { LanguageModelPolicy, Llama3Format, PythonBlockFormat } from '#agent_rl/policies/index.ts';
import { actOptions as options, ScriptedGenerator } from '#tests/support/scripted-generator.ts';
import { llamaModel, modelWithTemplate, plainTemplate } from '#tests/support/templates.ts';

const codeExec = {
  name: 'code_exec',
  description: 'Runs Python.',
  parameters: Type.Object({ code: Type.String() }),
};
const codeResult = (content: string): ToolMessage => ({
  role: 'tool',
  content,
  name: 'code_exec',
  callId: 'call_0_0',
});

describe('A Llama 3 model', () => {
  const llama = llamaModel();
  const say = (said: string, settings: object = {}) => {
    const generator = new ScriptedGenerator(() => llama.tokenizer.encodeTemplate(said));
    const format = new Llama3Format({ settings: {} });
    const given = { model: llama, generator, settings: { thinking: false, ...settings }, format };
    return { generator, policy: new LanguageModelPolicy(given) };
  };

  test.each(['<|eom_id|>', '<|eot_id|>'])(
    'may end a turn with %s, which is not ended again',
    async (end) => {
      const { policy, generator } = say(`<|python_tag|>print(2+2)${end}`);
      const transcript = policy.begin([user('2+2?')], [codeExec]);
      const { message, stop } = await policy.act(transcript, options());
      expect(stop).toBe('end-of-turn');
      expect(message.toolCalls).toEqual([
        { id: 'call_0_0', name: 'code_exec', arguments: { code: 'print(2+2)' } },
      ]);
      const { length } = transcript;
      policy.observe(transcript, [codeResult('4')]);
      expect(llama.tokenizer.decode(transcript.tokens.slice(length))).toBe(
        '<|start_header_id|>ipython<|end_header_id|>\n\n"4"<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
      );
      expect(
        generator.requests[0]?.stopTokens.map((id) => llama.tokenizer.decode([id])).toSorted(),
      ).toEqual(['<|eom_id|>', '<|eot_id|>']);
    },
  );

  test('has its truncated turn ended by the template', async () => {
    const { policy } = say('one two three');
    const transcript = policy.begin([user('Count.')], []);
    await policy.act(transcript, options({ maxTokens: 3 }));
    const { length } = transcript;
    policy.observe(transcript, [user('Go on.')]);
    expect(llama.tokenizer.decode(transcript.tokens.slice(length, length + 1))).toBe('<|eot_id|>');
  });

  test('receives the date of its settings, with a note', () => {
    const { policy } = say('', { templateDate: '2031-01-02' });
    expect(llama.tokenizer.decode(policy.begin([user('Hi')], []).tokens)).toContain(
      'Today: 02 Jan 2031',
    );
    expect(policy.notes.join('\n')).toContain('2031-01-02');
  });
});

describe('A model that answers in code', () => {
  const coder = modelWithTemplate(plainTemplate);
  const turn = 'I try:\n```python\nprint(2+2)\n```';
  const policy = new LanguageModelPolicy({
    model: coder,
    generator: new ScriptedGenerator(() => coder.tokenizer.encodeTemplate(`${turn}<|im_end|>`)),
    settings: { thinking: false },
    format: new PythonBlockFormat({ settings: {} }),
  });
  const call = { id: 'call_0_0', name: 'code_exec', arguments: { code: 'print(2+2)' } };
  const rest = '\n<|im_start|>user\n4<|im_end|>\n<|im_start|>assistant\n';

  test("has its blocks run, and reads results as user messages that are recorded as the tool's", async () => {
    const transcript = policy.begin([user('2+2?')], [codeExec]);
    const { message } = await policy.act(transcript, options());
    expect(message).toEqual({ role: 'assistant', content: 'I try:', toolCalls: [call] });
    policy.observe(transcript, [codeResult('4')]);
    expect(coder.tokenizer.decode(transcript.tokens).endsWith(`${turn}<|im_end|>${rest}`)).toBe(
      true,
    );
    const { tokens, spans } = transcript.record();
    const said = spans.filter(({ source }) => source === 'tool');
    expect(said.map(({ start, end }) => coder.tokenizer.decode(tokens.slice(start, end)))).toEqual([
      '4',
    ]);
  });

  test('sees given calls as it would write them', () => {
    const conversation: readonly Message[] = [
      user('2+2?'),
      { role: 'assistant', content: 'I try:', toolCalls: [call] },
      codeResult('4'),
      { role: 'assistant', content: '4' },
    ];
    const given = policy.demonstrate(conversation, [codeExec]);
    expect(coder.tokenizer.decode(given.tokens)).toBe(
      `<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n${turn}<|im_end|>${rest}4<|im_end|>`,
    );
  });
});
