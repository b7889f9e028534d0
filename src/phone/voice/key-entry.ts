import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** How keys are gathered that a brain has asked for. */
export type GatherRules = {
  readonly maxDigits: number;
  /** The key that ends the entry and is no part of it; undefined: none does. */
  readonly finishOnKey: string | undefined;
  /** How long the next key is waited for, and the first one. */
  readonly timeoutMs: number;
  /** The digits are written nowhere. */
  readonly isSensitive: boolean;
};

export type EnteredKeys = {
  readonly digits: string;
  /** A brain has asked for them. */
  readonly isGathered: boolean;
  readonly isSensitive: boolean;
};

/**
 * Gathers keys that are pressed one after another; a pause or `#` ends an entry. A brain may ask for one entry by its own
 * rules.
 */
export class KeyEntry {
  readonly #clock: Clock;
  readonly #entered: (keys: EnteredKeys) => void;
  #digits = '';
  #timer: TimerHandle | undefined;
  /** Of the entry that a brain has asked for. */
  #rules: GatherRules | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly entered: (keys: EnteredKeys) => void;
  }) {
    this.#clock = options.clock;
    this.#entered = options.entered;
  }

  /** Gathers the next keys by these rules. Keys of an entry that was not complete are dropped. */
  gather(rules: GatherRules): void {
    this.close();
    this.#rules = rules;
    this.#wait(rules.timeoutMs);
  }

  /** Whether an entry is open that a brain has asked for. */
  get isGathering(): boolean {
    return this.#rules !== undefined;
  }

  /** A key as it may be written down: while sensitive ones are gathered, all of them read alike but the one that ends them. */
  writtenAs(digit: string): string {
    const rules = this.#rules;
    if (!rules?.isSensitive || digit === rules.finishOnKey) return digit;
    return rules.finishOnKey === '0' ? '1' : '0';
  }

  press(digit: string): void {
    const rules = this.#rules;
    if (rules !== undefined && digit === rules.finishOnKey) {
      this.#wait(0);
      return;
    }
    const most = rules?.maxDigits ?? LIMITS.phone.keys;
    if (this.#digits.length < most) this.#digits += digit;
    const isWhole = this.#digits.length >= most || (rules === undefined && digit === '#');
    this.#wait(isWhole ? 0 : (rules?.timeoutMs ?? LIMITS.phone.digitsMs));
  }

  close(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#digits = '';
    this.#rules = undefined;
  }

  #wait(ms: number): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      const digits = this.#digits;
      const rules = this.#rules;
      this.close();
      this.#entered({
        digits,
        isGathered: rules !== undefined,
        isSensitive: rules?.isSensitive ?? false,
      });
    }, ms);
  }
}

/** An entry as the history has it: sensitive digits are counted and not told. */
export function keypadNote({ digits, isGathered, isSensitive }: EnteredKeys): string {
  if (isGathered && digits === '') return '[keypad] no digits entered';
  if (!isSensitive) return `[keypad] ${digits}`;
  return `[keypad] ${digits.length} ${digits.length === 1 ? 'digit' : 'digits'} entered`;
}
