/** The parts of https://github.com/duhaime/minhash that are used; it has no types of its own. */
declare module 'minhash' {
  namespace minhash {
    class Minhash {
      constructor(config?: { readonly numPerm?: number; readonly seed?: number });
      /** Hash of a text, 32 bits. */
      hash: (text: string) => number;
      hashvalues: number[];
      update(text: string): void;
    }
    class LshIndex {
      constructor(config?: { readonly bandSize?: number });
      insert(key: string, signature: Minhash): void;
      query(signature: Minhash): string[];
    }
  }
  export default minhash;
}
