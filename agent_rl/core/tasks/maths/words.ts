const counts =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|[a-z]*illion|mil|mill|[mbt]n|dozen|score|gross|lakh|lac|crore|grand';
const parts =
  'half|halves|halve|thirds?|quarters?|fifths?|sevenths?|eighths?|ninths?|(?:four|six|ten|eleven|twelf|[a-z]+teen|[a-z]+tie|hundred|thousand|[a-z]*illion)ths?|percentage points?';
const operations =
  'squared?(?= root)|squared|cubed|cube root|doubled?|tripled?|quadrupled?|halved|twice|thrice|times|plus|minus|over|to|factorial|remainder|rem|point|less|more|fewer|than|modulo?|choose|divided|multiplied|added|subtracted|increased|decreased|reduced|raised|power|root|versus|vs|ratio|between|through|thru|out|short|off|below|under|above|negative|debt|down|most|least|minimum|maximum|inclusive|exclusive|something|counting|zero';

/** Words that change the number beside them: a number with one is not read. */
export const changing = new RegExp(
  String.raw`(?<![\\\p{L}])(?:${counts}|${parts}|${operations})s?(?![\p{L}])`,
  'iu',
);

/** Of these, words that say nothing of a number unless another follows. */
export const harmless = /^(?:times|plus|minus|over|to|points?|less|more|fewer|than|out)$/iu;

/** Words that offer another answer or deny one. */
export const denying =
  /(?<![\\\p{L}])(?:or|nor|plus\s*$|is not|isn['’]t|not (?:right|correct)|never|but|except|wait|actually|instead|rather|wrong|incorrect)(?![\p{L}])/iu;

/** Number words that count something else, behind a preposition or an article. */
export const counting = new RegExp(
  String.raw`(?<!\p{L}|\b(?:to|of) )(?:in|for|on|at|after|with|from|all|the|each|every|last|next|first|other) (?:(?:all|the|his|her|their|first|last|next|other) )*(?:${counts}|${parts})s?(?![\p{L}])`,
  'giu',
);

/** Words before a number that leave it as it is: between "answer is" and a number there may be no others. */
export const leading =
  /^(?:that|there|here|he|she|it|they|we|you|is|are|was|were|be|will|would|has|have|had|can|must|should|needs?|gets?|got|left|made|makes?|earned|earns?|sold|sells?|spent|spends?|paid|pays?|bought|buys?|costs?|takes?|took|the|an?|in|of|total|exactly|simply|just|only|about|approximately|roughly|around|equals?|equal|to|therefore|thus|so|indeed|then|final|answer|clear|this|USD|Rs)$/iu;

/** Words right before the last number of a message that say that it is not the answer, or not all of it. */
export const turning =
  /(?<!\p{L})(?:not(?: \p{L}+)?|at minimum|no|never|neither|nearly|almost|than|least|most|over|under|above|below|minus|negative|twice|thrice|half|double|triple|third|quarter|times|by|mod|modulo|choose|through|thru|between|versus|vs|rem|remainder|root|sqrt|log|ln|sin|cos|tan|point|up to|(?<!(?:total|cost|price|amount|number|profit|average|rate|income|age|distance|weight|height|length|width|area|balance|earnings|value|speed|score|savings|tip|discount|bill|change) )of)(?: the| an?)?\s*[$€£¥₹]?$/iu;

/** What turns the sign of a number behind it. */
export const negating = /^(?:minus|negative)\s+[$\\\d]/iu;

/** What joins a number to one behind it. */
export const joining =
  /^(?:[,;]\s+(?:and\s+|or\s+)?|(?:and|or|to|times|plus|minus|over|point|remainder)\s+)(?:an?\s|[-$\\\d])/iu;

/** A word between two numbers, as in 5 feet 3 inches. */
export const between = /^(\p{L}+),?\s+(?:and\s+)?\d/u;

/** Units, and nouns and other words of three letters that stand behind a number. */
const short =
  /^(?:[mcdknµμ]?m|[kmµμ]?g|[mcd]?[lL]|lbs?|oz|ft|in|yds?|mi|mph|kph|hrs?|mins?|secs?|ms|ns|s|h|mol|[kMG]?Hz|[kM]?J|[kM]?W|kWh|[kmM]?V|m?A|[kM]?Pa|k?N|[CF]|atm|cal|deg|rad|rpm|am|pm|USD|EUR|GBP|CAD|AUD|INR|[kKMGT]B|sq|cu|sqft|per|day|cup|egg|car|cat|dog|cow|pig|hen|box|bag|pen|man|men|ton|way|bus|pie|can|jar|toy|hat|kid|boy|row|set|tie|mug|nut|bar|bed|job|ant|bee|fox|red|new|old|big|all|inch|feet|foot|unit)s?$/;

/** Whether a word behind a number is a unit or a noun, and neither a number, an operation nor a variable. */
export const isUnit = (word: string): boolean =>
  short.test(word) || (/^\p{L}{4,}$/u.test(word) && !changing.test(word) && !denying.test(word));

/** Words that join others behind a number. */
export const linking = /^(?:of|in|an?|the|on|at|for|each|per)$/iu;

/** Short words that go on with a sentence behind a number. */
export const following =
  /^(?:and|is|are|was|as|if|so|to|by|with|from|he|she|it|we|they|did|do|had|has|can|who|not|out|now|too|less|more|plus|over|due)$/iu;

/** Two-letter words that are no product of variables. */
export const isWord = (word: string): boolean =>
  word.length > 2 ||
  /^(?:of|so|is|as|if|by|on|at|it|to|we|he|me|my|no|do|be|an|us|up|go|or|am)$/iu.test(word);
