/** Words that change the number before them: a number with one is not read. */
export const changing =
  /(?<!\\)\b(?:hundred|thousand|[mbtr]+illion|dozen|half|halves|thirds?|quarters?|fourths?|fifths?|tenths?|squared|remainder|cubed|times|plus|minus|over|to|factorial|point|less|more)s?\b/iu;

/** Of these, words that say nothing of a number unless another follows. */
export const harmless = /^(?:times|plus|minus|over|to|point|less|more)$/iu;

/** What turns the sign of a number behind it. */
export const negating = /^(?:minus|negative)\s+[$\\\d]/iu;

/** What joins a number to one behind it, such as feet in 5 feet 3 inches. */
export const joining =
  /^(?:[,;]\s+(?:and\s+|or\s+)?|(?:and|or|to|times|plus|minus|over|point|remainder)\s+)(?:an?\s|[-$\\\d])|^(?:feet|foot|ft|hours?|hrs?|minutes?|mins?|seconds?|pounds?|lbs?|degrees?|met(?:er|re)s?|dollars?|euros?|weeks?|days?|months?|years?)(?=,?\s+(?:and\s+)?\d)/iu;

/** Units, and short nouns and words, that stand behind a number; all words of four letters and more may too. */
const short =
  /^(?:[mcdkn]?m|km|[kmµ]?g|[mckd]?l|mL|lbs?|oz|ft|in|yd|mi|mph|kph|hrs?|min|sec|ms|ns|mol|[kMG]?Hz|[kM]?J|[kM]?W|kWh|[km]?V|mA|[kM]?Pa|kN|atm|cal|deg|rad|rpm|am|pm|USD|EUR|GBP|CAD|AUD|per|day|cup|egg|car|cat|dog|cow|pig|hen|box|bag|pen|man|men|ton|way|bus|pie|can|jar|toy|hat|kid|boy|row|set|tie|sq|cu|sqft)$/;

export const isUnit = (word: string): boolean => word.length > 3 || short.test(word);

/** Two-letter words that are no product of variables. */
export const isWord = (word: string): boolean =>
  word.length > 2 ||
  /^(?:of|so|is|as|if|by|on|at|it|to|we|he|me|my|no|do|be|an|us|up|go|or|am)$/iu.test(word);
