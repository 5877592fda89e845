/** An entry of `added_tokens` of a tokenizer.json: text that is one token wherever it stands. */
export const addedToken = (id: number, content: string, special: boolean) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special,
});
