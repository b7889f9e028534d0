import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { AnsweredBy } from '../../carriers/carrier.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { OnMachine } from '../call.ts';
import { NamedTimers } from '../named-timers.ts';
import type { LiveActions } from './live-actions.ts';

const REASON = 'voicemail_reached';

export type MachineWatchOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly onMachine: OnMachine;
  /** The text that is left on an answering machine. */
  readonly message: string;
  readonly actions: Pick<LiveActions, 'drop' | 'leave' | 'mute'>;
  /** Reads from the call's row who answered, since the carrier may have reported to another process. */
  readonly read: () => Promise<AnsweredBy | null>;
  readonly learned: (answeredBy: AnsweredBy) => void;
};

/**
 * Carries out the order for answering machines when the carrier reports a machine or a fax during the conversation. The report
 * comes by `hear`, or from the row, which is read every `PHONE_LIMITS.machine.pollMs` for up to `PHONE_LIMITS.machine.timeoutMs`. After
 * any other report the conversation continues, so that call screening gets an answer.
 */
export class MachineWatch {
  readonly #options: MachineWatchOptions;
  readonly #timers: NamedTimers;
  readonly #untilMs: number;
  #isAwaitingEnd = false;
  #isOpen = true;

  constructor(options: MachineWatchOptions) {
    this.#options = options;
    this.#timers = new NamedTimers(options.clock);
    this.#untilMs = options.clock.monotonicMs() + PHONE_LIMITS.machine.timeoutMs;
    this.#pollLater();
  }

  /** Handles the carrier's report of who answered. Reports may come late, twice and out of order. */
  hear(answeredBy: AnsweredBy): void {
    if (!this.#isOpen) return;
    this.#options.learned(answeredBy);
    switch (answeredBy) {
      case 'machine_start':
      case 'machine_end':
        this.#machine(answeredBy);
        return;
      case 'fax':
        if (this.#options.onMachine !== 'continue') this.#options.actions.drop(REASON);
        this.close();
        return;
      default:
        if (!this.#isAwaitingEnd) this.close();
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#timers.close();
  }

  #machine(answeredBy: 'machine_start' | 'machine_end'): void {
    const { actions, onMachine } = this.#options;
    if (onMachine === 'leave_message') {
      if (answeredBy === 'machine_end') this.#leave();
      else this.#awaitEnd();
      return;
    }
    if (onMachine === 'hangup') actions.drop(REASON);
    this.close();
  }

  #awaitEnd(): void {
    if (this.#isAwaitingEnd) return;
    this.#isAwaitingEnd = true;
    this.#options.actions.mute();
    this.#timers.after('greeting', PHONE_LIMITS.machine.greetingMs, () => this.#leave());
  }

  #leave(): void {
    this.close();
    this.#options.actions.leave(this.#options.message, REASON);
  }

  #pollLater(): void {
    this.#timers.after('poll', PHONE_LIMITS.machine.pollMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const { clock, log, read } = this.#options;
    const isLast = clock.monotonicMs() >= this.#untilMs;
    try {
      const answeredBy = await read();
      if (answeredBy !== null) this.hear(answeredBy);
    } catch (err) {
      log.warn({ err }, 'who has answered a call could not be read');
    }
    if (!isLast) this.#pollLater();
    else if (!this.#isAwaitingEnd) this.close();
  }
}
