/** The text of tokenizer_config.json. */
export const tokenizerConfig = `${JSON.stringify(
  {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<|im_start|>',
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    clean_up_tokenization_spaces: false,
    model_max_length: 1024,
  },
  null,
  1,
)}\n`;
