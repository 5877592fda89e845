/** Ways to ask for the value of an expression: `{a}`, `{b}` and `{c}` stand for its numbers. */
interface Phrasings {
  /** Phrasings that training uses. */
  readonly trained: readonly string[];
  /** Phrasings that only the evaluation uses. */
  readonly unseen: readonly string[];
}

/** What a question asks for. */
export interface Operation extends Phrasings {
  readonly name: string;
  /** How many numbers it takes. */
  readonly arity: 2 | 3;
  /** The expression as a calculator takes it. */
  readonly expression: string;
  readonly value: (a: bigint, b: bigint, c: bigint) => bigint;
}

export const operations: readonly Operation[] = [
  {
    name: 'sum',
    arity: 2,
    expression: '{a} + {b}',
    value: (a, b) => a + b,
    trained: [
      'What is {a} + {b}?',
      'What is {a} plus {b}?',
      'Add {a} and {b}.',
      'Calculate the sum of {a} and {b}.',
      'A shop sold {a} apples in May and {b} in June. How many did it sell in both months?',
    ],
    unseen: [
      'How much do {a} and {b} make together?',
      'What is the total of {a} and {b}?',
      'A library has {a} books and buys {b} more. How many books does it have now?',
    ],
  },
  {
    // The first number is the larger one.
    name: 'difference',
    arity: 2,
    expression: '{a} - {b}',
    value: (a, b) => a - b,
    trained: [
      'What is {a} - {b}?',
      'What is {a} minus {b}?',
      'Subtract {b} from {a}.',
      'Calculate the difference between {a} and {b}.',
      'A tank held {a} litres, and {b} litres leaked out. How many litres are left?',
    ],
    unseen: [
      'Take {b} away from {a}. What remains?',
      'By how much is {a} greater than {b}?',
      'A farmer grew {a} potatoes and sold {b} of them. How many does he still have?',
    ],
  },
  {
    name: 'product',
    arity: 2,
    expression: '{a} * {b}',
    value: (a, b) => a * b,
    trained: [
      'What is {a} * {b}?',
      'What is {a} times {b}?',
      'Multiply {a} by {b}.',
      'Calculate the product of {a} and {b}.',
      'There are {a} boxes with {b} pencils each. How many pencils are there?',
    ],
    unseen: [
      'How much is {a} multiplied by {b}?',
      'What are {a} lots of {b}?',
      'A ticket costs {a} dollars. How much do {b} tickets cost together?',
    ],
  },
  {
    name: 'sum, then product',
    arity: 3,
    expression: '({a} + {b}) * {c}',
    value: (a, b, c) => (a + b) * c,
    trained: [
      'What is ({a} + {b}) * {c}?',
      'Add {a} and {b}, then multiply by {c}.',
      'Multiply the sum of {a} and {b} by {c}.',
      'Each of {c} trucks carries {a} red bricks and {b} blue ones. How many bricks do they carry?',
    ],
    unseen: [
      'What is {c} times the sum of {a} and {b}?',
      'A box holds {a} nuts and {b} bolts. How many pieces are in {c} boxes?',
    ],
  },
  {
    name: 'product, then sum',
    arity: 3,
    expression: '{a} * {b} + {c}',
    value: (a, b, c) => a * b + c,
    trained: [
      'What is {a} * {b} + {c}?',
      'Multiply {a} by {b}, then add {c}.',
      'Add {c} to the product of {a} and {b}.',
      'There are {a} bags with {b} beans each, and {c} loose beans. How many beans are there?',
    ],
    unseen: [
      'What is {a} times {b}, plus {c}?',
      'A worker earns {a} dollars a month for {b} months, and a bonus of {c} dollars. How much is that?',
    ],
  },
];
