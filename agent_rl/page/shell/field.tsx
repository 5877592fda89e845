import { useEffect, useRef, useState } from 'preact/hooks';

interface FieldProps {
  id?: string;
  label: string;
  value: string;
  set: (value: string) => void;
  placeholder?: string;
  isWide?: boolean;
}

const afterMs = 300;

/** A field that reports its value once the reader stops typing. */
export function Field({ id, label, value, set, placeholder, isWide = false }: FieldProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string): void => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set(text.trim()), afterMs);
  };
  return (
    <label class={isWide ? 'wide' : ''}>
      {label}
      <input
        type="search"
        value={typed}
        autocomplete="off"
        spellcheck={false}
        id={id}
        placeholder={placeholder}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
    </label>
  );
}
