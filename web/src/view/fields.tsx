import type { VNode } from "preact";

interface ChoiceProps<T extends string | number> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly (readonly [value: T, text: string])[];
  readonly onChange: (value: T) => void;
  readonly testId?: string;
}

/** A labelled list to choose from. */
export function Choice<T extends string | number>({ label, value, choices, onChange, testId }: ChoiceProps<T>): VNode {
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={value}
        data-testid={testId}
        onChange={({ currentTarget }) => {
          const chosen = choices[currentTarget.selectedIndex];
          if (chosen) onChange(chosen[0]);
        }}
      >
        {choices.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface DecimalInputProps {
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** Called when the user has finished typing. */
  readonly onChange?: (text: string) => void;
  readonly testId?: string;
}

/** A text field for a number; phones show the number keys. */
export function DecimalInput({ value, onInput, onChange, testId }: DecimalInputProps): VNode {
  return (
    <input
      type="text"
      inputMode="decimal"
      autoComplete="off"
      value={value}
      data-testid={testId}
      onInput={({ currentTarget }) => {
        onInput(currentTarget.value);
      }}
      onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
    />
  );
}

interface SliderProps {
  readonly label: string;
  readonly value: number;
  /** The value as shown beside the slider. */
  readonly text: string;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly onInput: (value: number) => void;
  readonly testId: string;
}

/** A labelled slider with its value beside it. */
export function Slider({ label, value, text, min, max, step = 1, onInput, testId }: SliderProps): VNode {
  return (
    <label class="range">
      <span>{label}</span>
      <input
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        aria-valuetext={text}
        data-testid={testId}
        onInput={({ currentTarget }) => {
          onInput(Number(currentTarget.value));
        }}
      />
      <output>{text}</output>
    </label>
  );
}

/** What is wrong with the fields above it; nothing where all is well. */
export function FieldProblem({ problem }: { readonly problem: string | undefined }): VNode | null {
  if (problem === undefined) return null;
  return (
    <p class="field-problem" role="alert">
      {problem}
    </p>
  );
}
