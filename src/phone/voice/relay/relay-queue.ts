import { LIMITS } from '../../../kernel/limits.ts';
import type { AnswerPiece } from '../../../voice/session/voice-pipeline.ts';
import { actionPiece } from '../call-actions.ts';
import type { RelayMessage } from './relay-message.ts';

/** A piece of an answer, or its end. */
type Entry = AnswerPiece | 'last';

/** Words and actions of an application that no answer has taken yet, with the end of each answer. */
export class RelayQueue {
  #entries: Entry[] = [];
  #chars = 0;
  #isStale = false;
  #isEnded = false;

  /** The application has ended the call: nothing that follows counts, unless the caller goes on. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get hasPieces(): boolean {
    return this.#entries.some((entry) => entry !== 'last');
  }

  /** Keeps a message. `isAwaited`: an answer waits for it. Returns false when too much waits. */
  take(message: RelayMessage, isAwaited: boolean): boolean {
    if (this.#isEnded) return true;
    if (message.kind === 'action') return this.#takeAction(message);
    const { isLast, token } = message;
    if (this.#isStale) {
      this.#isStale = !isLast;
      return true;
    }
    if (token !== '') this.#push({ kind: 'text', text: token });
    if (isLast && (isAwaited || this.hasPieces)) this.#push('last');
    return this.#isWithinBounds;
  }

  next(): Entry | undefined {
    const entry = this.#entries.shift();
    this.#chars -= charsOf(entry);
    return entry;
  }

  /**
   * The caller has pressed a key or said something, and so goes on with the call: what comes from now on is no rest of an
   * abandoned answer, and an end that was not carried out is taken back.
   */
  wentOn(): void {
    this.#isStale = false;
    this.#isEnded = false;
    this.#keep(this.#entries.filter((entry) => !isEnd(entry)));
  }

  /** The caller has said something: what waits is said before the answer to it, and does not end that. */
  asked(): void {
    this.wentOn();
    this.#entries = this.#entries.filter((entry) => entry !== 'last');
  }

  /**
   * The answer is not wanted any more: drops its rest, also what still comes of it until its end or until the caller goes
   * on. What changes the whole call stays.
   */
  abandon(): void {
    const end = this.#entries.indexOf('last');
    this.#isStale = end === -1;
    const dropped = end === -1 ? this.#entries : this.#entries.slice(0, end + 1);
    const kept = end === -1 ? [] : this.#entries.slice(end + 1);
    this.#keep([...dropped.filter(isLasting), ...kept]);
  }

  /** The next answer begins and cuts short what waits of the one before. */
  preempt(): void {
    this.#keep(this.#entries.filter(isLasting));
    this.#isStale = false;
  }

  #takeAction({ action }: Extract<RelayMessage, { kind: 'action' }>): boolean {
    const piece = actionPiece(action);
    if (this.#isStale && !isLasting(piece)) return true;
    this.#isEnded = action.name === 'end_call';
    this.#push(piece);
    return this.#isWithinBounds;
  }

  #keep(entries: Entry[]): void {
    this.#entries = entries;
    this.#chars = entries.reduce((sum, entry) => sum + charsOf(entry), 0);
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#chars += charsOf(entry);
  }

  get #isWithinBounds(): boolean {
    const { relayWaitingChars, relayWaitingPieces } = LIMITS.phone;
    return this.#chars <= relayWaitingChars && this.#entries.length <= relayWaitingPieces;
  }
}

const isEnd = (entry: Entry): boolean =>
  entry !== 'last' && entry.kind === 'call' && entry.name === 'end_call';

const isLasting = (entry: Entry): boolean =>
  isEnd(entry) || (entry !== 'last' && entry.kind === 'call' && entry.name === 'set_language');

function charsOf(entry: Entry | undefined): number {
  if (entry === undefined || entry === 'last') return 0;
  return entry.kind === 'text' ? entry.text.length : entry.argumentsJson.length;
}
