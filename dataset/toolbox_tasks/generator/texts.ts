/** How people ask for an operation, and what tools say of it: in two ways that are trained, and in one that is not. */
interface Texts {
  readonly asks: string;
  readonly says: readonly string[];
}

/** An operation a line; `{a}` is the value of a role, and `{noun}` and `{other}` are names. */
const read = (lines: string): ReadonlyMap<string, Texts> =>
  new Map(
    lines
      .trim()
      .split('\n')
      .map((line): [string, Texts] => {
        const [name = '', asks = '', ...says] = line.split('|').map((cell) => cell.trim());
        return [name, { asks, says }];
      }),
  );

const texts = read(`
add_numbers      | What is {a} plus {b}?              | Adds {a} and {b}.          | Gives {a} plus {b}.                       | Puts {a} and {b} together.
subtract_numbers | What is {a} minus {b}?             | Gives {a} minus {b}.       | Subtracts {b} from {a}.                   | Takes {b} away from {a}.
multiply_numbers | What is {a} times {b}?             | Gives {a} times {b}.       | Multiplies {a} by {b}.                    | Takes {a} as often as {b} says.
look_up_entry    | What is the {noun} of {key}?       | Gives the {noun} of {key}. | Looks up the {noun} of {key}.             | Knows which {noun} {key} has.
convert_unit     | How many {other} are {value} {noun}? | Gives {value} {noun} in {other}. | Converts {value} from {noun} to {other}. | Says how many {other} make {value} {noun}.
later_date       | Which date is {days} days after {start}? | Gives the date {days} days after {start}. | Adds {days} days to the date {start}. | Goes on from the date {start} by {days} days.
write_backwards  | What is {text} backwards?          | Writes {text} backwards.   | Gives {text} backwards.                   | Turns {text} round, last letter first.
put_in_box       | Put {amount} into box {box}. How much is in box {box} then? | Puts {amount} into box {box}. | Adds {amount} to box {box}. | Fills box {box} by {amount}.
read_box         | How much is in box {box}?          | Says how much is in box {box}. | Gives what box {box} holds.           | Looks into box {box}.
remainder_of | What is left when {a} is divided by {b}? | Gives what is left when {a} is divided by {b}. | Divides {a} by {b} and gives what is left. | Takes {b} from {a} until less is left.
find_holder  | Who has the {noun} {value}?              | Says who has the {noun} {value}.  | Finds who has the {noun} {value}.  | Knows whose {noun} is {value}.
day_of_week  | Which day of the week is {date}?         | Gives the day of the week of {date}. | Says which day of the week {date} is. | Knows the calendar of {date}.
drop_vowels  | What is {text} without vowels?           | Writes {text} without vowels.     | Takes the vowels out of {text}.    | Keeps the consonants of {text}.
move_between_boxes | Move {amount} from box {from} to box {to}. How much is in box {to} then? | Moves {amount} from box {from} to box {to}. | Takes {amount} out of box {from} and puts it into box {to}. | Fills box {to} with {amount} of box {from}.
`);

export const textsOf = (operation: string): Texts => texts.get(operation)!;

/** Operations that training draws, and others that only the evaluation asks for. */
export const trainedOperations = [...texts.keys()].slice(0, 9);
export const newOperations = [...texts.keys()].slice(9);

/** A text with its placeholders filled in. */
export const filled = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, role: string) => String(values[role]));
