import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { NOTES } from './notes.ts';

/** Rules for an entry of keys that a responder requests. */
export type GatherRules = {
  readonly maxDigits: number;
  /** Key that ends the entry and is no part of it. Undefined when no key ends the entry. */
  readonly finishOnKey: string | undefined;
  /** Milliseconds to wait for the first key, and for each next key. */
  readonly timeoutMs: number;
  /** True when the digits must not be stored or logged. */
  readonly isSensitive: boolean;
};

export type EnteredKeys = {
  readonly digits: string;
  /** True when a responder requested the entry. */
  readonly isGathered: boolean;
  readonly isSensitive: boolean;
};

/**
 * Gathers keys that are pressed one after another; a pause or `#` ends an entry. A responder may request one entry with its own
 * rules. When its length ends that entry, further keys are dropped until the caller pauses, because the caller does not know
 * yet that the entry is complete.
 */
export class KeyEntry {
  readonly #clock: Clock;
  readonly #entered: (keys: EnteredKeys) => void;
  #digits = '';
  /** `kept`: keys are held back for `gather`. `dropped`: keys are discarded. Undefined: keys are taken. */
  #held: 'kept' | 'dropped' | undefined;
  #timer: TimerHandle | undefined;
  /** Rules of the entry that a responder requested. Undefined when there is none. */
  #rules: GatherRules | undefined;
  /** Callback of the requested entry. Runs once no further key can belong to the entry. */
  #over = () => {};
  /**
   * Requested entry that starts after a pause in the pressed keys. `begin` starts it; `over` runs instead when the entry is
   * given up.
   */
  #next: { readonly begin: () => void; readonly over: () => void } | undefined;
  /** Monotonic time of the last key press, or of the start of dropping, from which the pause is measured. */
  #restsFromMs = 0;

  constructor(options: {
    readonly clock: Clock;
    readonly entered: (keys: EnteredKeys) => void;
  }) {
    this.#clock = options.clock;
    this.#entered = options.entered;
  }

  /**
   * Gathers the next keys by `rules`, after the keys that `keep` held for this entry. Keys of another entry are dropped. `over`
   * runs exactly once, when no further key can belong to the entry: before `entered`, unless keys may follow.
   */
  gather(rules: GatherRules, over = () => {}): void {
    if (this.#isDroppingSensitive) {
      this.#begins({ begin: () => this.gather(rules, over), over });
      return;
    }
    // Keys that were pressed for a sensitive entry go to no other entry.
    const kept = this.#held === 'kept' && rules.isSensitive ? this.#digits : '';
    this.close();
    this.#rules = rules;
    this.#over = over;
    this.#wait(rules.timeoutMs);
    for (const digit of kept) {
      this.press(digit);
      if (digit === rules.finishOnKey || this.#digits.length >= rules.maxDigits) break;
    }
  }

  /**
   * Keeps the next keys back for an entry that cannot begin yet, up to `PHONE_LIMITS.keypad.keys` and a key that ends them. The `over`
   * of an earlier entry runs only once this entry begins.
   */
  keep(rules: GatherRules): void {
    if (this.#isDroppingSensitive) {
      this.#begins({ begin: () => this.keep(rules), over() {} });
      return;
    }
    const over = this.#over;
    this.#over = () => {};
    this.close();
    this.#over = over;
    this.#rules = rules;
    this.#held = 'kept';
  }

  /** Gives up the entry that `keep` announced. Its keys are dropped, and further keys until the caller pauses. */
  drop(): void {
    const next = this.#next;
    if (this.#held !== 'kept' && next === undefined) return;
    this.#next = undefined;
    next?.over();
    this.#drop();
  }

  /** True while keys are dropped. */
  get isDropping(): boolean {
    return this.#held === 'dropped';
  }

  /** True while an entry that a responder requested is open, or is about to begin. */
  get isGathering(): boolean {
    if (this.#held === 'dropped') return this.#next !== undefined;
    return this.#rules !== undefined;
  }

  /** Returns the text under which a key is stored. In a sensitive entry all keys read alike, except the key that ends it. */
  writtenAs(digit: string): string {
    const rules = this.#rules;
    if (!rules?.isSensitive || digit === rules.finishOnKey) return digit;
    return rules.finishOnKey === '0' ? '1' : '0';
  }

  press(digit: string): void {
    const rules = this.#rules;
    this.#restsFromMs = this.#clock.monotonicMs();
    if (this.#held === 'kept') {
      if (this.#digits.length <= PHONE_LIMITS.keypad.keys) this.#digits += digit;
      return;
    }
    if (this.#held === 'dropped') {
      this.#rest();
      return;
    }
    if (rules !== undefined && digit === rules.finishOnKey) {
      this.#wait(0);
      return;
    }
    const most = rules?.maxDigits ?? PHONE_LIMITS.keypad.keys;
    if (this.#digits.length < most) this.#digits += digit;
    const isWhole = this.#digits.length >= most;
    if (isWhole && rules !== undefined) this.#wait(0, { mayGoOn: true });
    else if (isWhole || (rules === undefined && digit === '#')) this.#wait(0);
    else this.#wait(rules?.timeoutMs ?? PHONE_LIMITS.keypad.pauseMs);
  }

  close(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    const over = this.#over;
    const next = this.#next;
    this.#timer = undefined;
    this.#digits = '';
    this.#held = undefined;
    this.#rules = undefined;
    this.#over = () => {};
    this.#next = undefined;
    over();
    next?.over();
  }

  /** True while the keys of a sensitive entry are dropped, so that no other entry gets them. */
  get #isDroppingSensitive(): boolean {
    return this.#held === 'dropped' && this.#rules?.isSensitive === true;
  }

  #drop(): void {
    this.#held = 'dropped';
    this.#digits = '';
    this.#restsFromMs = this.#clock.monotonicMs();
    this.#rest();
  }

  #begins(next: { readonly begin: () => void; readonly over: () => void }): void {
    this.#next?.over();
    this.#next = next;
    this.#rest();
  }

  /**
   * Drops keys until the caller pauses for `digitsMs`. After a sensitive entry the pause is `keypadRestMs`, unless another
   * entry waits to begin.
   */
  #rest(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    const { pauseMs: digitsMs, restMs: keypadRestMs } = PHONE_LIMITS.keypad;
    const isLong = this.#isDroppingSensitive && this.#next === undefined;
    const untilMs = this.#restsFromMs + (isLong ? keypadRestMs : digitsMs);
    this.#timer = this.#clock.setTimeout(
      () => {
        const next = this.#next;
        this.#next = undefined;
        this.close();
        next?.begin();
      },
      Math.max(0, untilMs - this.#clock.monotonicMs()),
    );
  }

  /** Ends the entry after `ms`. With `mayGoOn`, the keys that follow the entry are dropped. */
  #wait(ms: number, { mayGoOn = false } = {}): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      const digits = this.#digits;
      const rules = this.#rules;
      if (mayGoOn) this.#drop();
      else this.close();
      this.#entered({
        digits,
        isGathered: rules !== undefined,
        isSensitive: rules?.isSensitive ?? false,
      });
    }, ms);
  }
}

/** Returns the note of an entry for the history. Sensitive digits are counted and not shown. */
export function keypadNote({ digits, isGathered, isSensitive }: EnteredKeys): string {
  if (isGathered && digits === '') return `${NOTES.keypad} no digits entered`;
  if (!isSensitive) return `${NOTES.keypad} ${digits}`;
  return `${NOTES.keypad} ${digits.length} ${digits.length === 1 ? 'digit' : 'digits'} entered`;
}
