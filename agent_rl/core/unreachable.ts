/** Ends a `switch` whose cases the compiler knows to be all there are. @throws Error for a value outside its type. */
export function unreachable(value: never): never {
  throw new Error(`There is no case for ${String(value)}`);
}
