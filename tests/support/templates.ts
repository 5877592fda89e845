import { ChatTemplate } from '../../model/chat-template.ts';
import { LanguageModel } from '../../model/language-model.ts';
import { Tokenizer } from '../../model/tokenizer.ts';

/** Each byte as the character that byte-level tokenizers write it as. */
function byteCharacters(): readonly string[] {
  const printable = (byte: number): boolean =>
    (byte > 32 && byte < 127) || (byte > 160 && byte !== 173 && byte < 256);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(printable(byte) ? byte : next++),
  );
}

/** A tokenizer with a token for each byte, and control tokens from 256 on. */
export function byteTokenizer(controls: readonly string[]): Tokenizer {
  const level = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
  const vocab = Object.fromEntries(byteCharacters().map((character, id) => [character, id]));
  const json = {
    added_tokens: controls.map((content, i) => ({ id: 256 + i, content, special: true })),
    normalizer: null,
    pre_tokenizer: level,
    post_processor: null,
    decoder: level,
    model: { type: 'BPE', vocab, merges: [] },
  };
  return new Tokenizer(json, { bos_token: controls[0] });
}

const llamaControls = [
  '<|begin_of_text|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|start_header_id|>',
  '<|end_header_id|>',
  '<|python_tag|>',
];

/** A template laid out as Llama 3's: the day, tools in the first message of the user, results of role ipython. */
export const llamaTemplate = String.raw`{{- bos_token }}
{%- if strftime_now is defined %}{%- set day = strftime_now("%d %b %Y") %}{%- else %}{%- set day = "26 Jul 2024" %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}{%- set rules = messages[0]['content'] | trim %}{%- set said = messages[1:] %}{%- else %}{%- set rules = "" %}{%- set said = messages %}{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\n\nToday: ' + day + '\n\n' + rules + '<|eot_id|>' }}
{%- if tools and tools_in_user_message | default(true) %}
{{- '<|start_header_id|>user<|end_header_id|>\n\nCall one of these as {"name": …, "parameters": …}.\n\n' }}
{%- for tool in tools %}{{- tool | tojson(indent=4) + '\n\n' }}{%- endfor %}
{{- said[0]['content'] | trim + '<|eot_id|>' }}
{%- set said = said[1:] %}
{%- endif %}
{%- for message in said %}
{%- if message.role == 'tool' or message.role == 'ipython' %}
{{- '<|start_header_id|>ipython<|end_header_id|>\n\n' }}
{%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}{%- else %}{{- message.content }}{%- endif %}
{{- '<|eot_id|>' }}
{%- elif 'tool_calls' in message %}
{%- if message.tool_calls | length != 1 %}{{- raise_exception('one call at a time') }}{%- endif %}
{%- set call = message.tool_calls[0].function %}
{{- '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "' + call.name + '", "parameters": ' + (call.arguments | tojson) + '}' }}
{{- '<|eom_id|>' if builtin_tools is defined else '<|eot_id|>' }}
{%- else %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content | trim + '<|eot_id|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}`;

/** A model's text side that speaks by a template laid out as Llama 3's. */
export function llamaModel(): LanguageModel {
  const tokenizer = byteTokenizer(llamaControls);
  return new LanguageModel(tokenizer, new ChatTemplate(llamaTemplate, tokenizer.namedTokens));
}

/** A model's text side whose turns begin and end as Qwen's do, by the given template. */
export function modelWithTemplate(template: string): LanguageModel {
  const tokenizer = byteTokenizer(['<|endoftext|>', '<|im_end|>', '<|im_start|>']);
  return new LanguageModel(tokenizer, new ChatTemplate(template, tokenizer.namedTokens));
}

/** A template that knows the roles system, user and assistant, and neither tools nor their results. */
export const plainTemplate = String.raw`{%- for message in messages %}
{%- if message.role not in ['system', 'user', 'assistant'] %}{{- raise_exception('no role ' + message.role) }}{%- endif %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`;

/** A template laid out as Qwen2.5's: a system message of its own, tools there, calls in <tool_call>. */
export const qwen25Template = String.raw`{%- set own = messages[0].role != 'system' %}
{{- '<|im_start|>system\n' + ('You help.' if own else messages[0].content) }}
{%- if tools %}{{- '\n\n<tools>' }}{%- for tool in tools %}{{- '\n' + (tool | tojson) }}{%- endfor %}{{- '\n</tools>' }}{%- endif %}
{{- '<|im_end|>\n' }}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) or (message.role == 'assistant' and not message.tool_calls) %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant' }}
{%- if message.content %}{{- '\n' + message.content }}{%- endif %}
{%- for call in message.tool_calls %}
{{- '\n<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\n' }}{%- endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`;
