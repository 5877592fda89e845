const codeOf = (character: string): number => character.charCodeAt(0);
const [quote, backslash, comma] = [codeOf('"'), codeOf('\\'), codeOf(',')];
const [bracket, brace] = [codeOf('['), codeOf('{')];
const [bracketEnd, braceEnd] = [codeOf(']'), codeOf('}')];

/** More than any data, and less than what a function that calls itself for each level can go through. */
const deepestNesting = 1000;

/** The shape of a JSON text that comes in pieces, seen before memory is spent on its values. */
export class JsonShape {
  /** Numbers, texts, lists and so on, by what stands before each. */
  values = 1;
  /** Lists and objects that one value lies in, at most. */
  nesting = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;

  add(piece: Uint8Array): this {
    for (const byte of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inText) {
        if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#inText = false;
      } else if (byte === quote) this.#inText = true;
      else if (byte === comma) this.values++;
      else if (byte === bracket || byte === brace) {
        this.values++;
        this.#depth++;
        if (this.#depth > this.nesting) this.nesting = this.#depth;
      } else if (byte === bracketEnd || byte === braceEnd) this.#depth--;
    }
    return this;
  }

  /** What keeps it from being parsed, to be said of the text. */
  problem(mostValues: number): string | undefined {
    if (this.nesting > deepestNesting)
      return `nests lists and objects more than ${deepestNesting} deep`;
    if (this.values > mostValues) return `holds more than ${mostValues} values`;
    return undefined;
  }
}
