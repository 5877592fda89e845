/** Short common words the tasks are made of. */
export const words: readonly string[] = (
  'ant apple arm bean bear bell bird boat bone book bread brown candle car cat chair clean cloud ' +
  'coat cold corn crane dance deer desk dog door dress eagle ear east egg farm feather fire fish ' +
  'flower fox garden glass goat gold grape green hand hat heart honey horse house ink iron island ' +
  'kite lamp leaf lemon letter lion map moon mountain nest night nose oak ocean orange owl paper pear ' +
  'pen pine plane rain red river road rose salt sand sea seven ship silver snow sofa son star stone ' +
  'sun table tea tent three tin train tree water wind winter wolf wood yellow zebra'
).split(' ');

/** Letters that begin, end and fill enough of the words to ask about. */
export const commonLetters: readonly string[] = ['a', 'd', 'e', 'l', 'n', 'r', 's', 't'];
