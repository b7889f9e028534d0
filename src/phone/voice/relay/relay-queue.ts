import type { AnswerPiece } from '../../../voice/session/voice-pipeline.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { actionPiece } from '../call-actions.ts';
import type { RelayMessage } from './relay-message.ts';

/** A piece of an answer. `last` marks the end of the answer. */
type Entry = AnswerPiece | 'last';

/** Words and actions of an application that no answer has taken yet, with the end of each answer. */
export class RelayQueue {
  #entries: Entry[] = [];
  #chars = 0;
  #isStale = false;
  #isEnded = false;

  /** True when the application has ended the call: later messages do not count, unless the caller goes on. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get hasPieces(): boolean {
    return this.#entries.some((entry) => entry !== 'last');
  }

  /** Queues a message. `isAwaited`: an answer waits for the message. Returns false when the queue exceeds its bounds. */
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
   * Notes that the caller has pressed a key or spoken, and goes on with the call: later messages belong to a new answer, and a
   * pending end of the call is taken back.
   */
  wentOn(): void {
    this.#isStale = false;
    this.#isEnded = false;
    this.#keep(this.#entries.filter((entry) => !isEnd(entry)));
  }

  /** Handles words of the caller: queued words are said before the answer to the caller, and do not end that answer. */
  asked(): void {
    this.wentOn();
    this.#entries = this.#entries.filter((entry) => entry !== 'last');
  }

  /**
   * Drops the rest of an answer that the caller interrupted, including its messages that still come until its end or until the
   * caller goes on. Changes of the whole call stay.
   */
  abandon(): void {
    const end = this.#entries.indexOf('last');
    this.#isStale = end === -1;
    const dropped = end === -1 ? this.#entries : this.#entries.slice(0, end + 1);
    const kept = end === -1 ? [] : this.#entries.slice(end + 1);
    this.#keep([...dropped.filter(isLasting), ...kept]);
  }

  /** Drops the queued rest of the previous answer, because the next answer cuts it short. */
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
    const { waitingChars: relayWaitingChars, waitingPieces: relayWaitingPieces } =
      PHONE_LIMITS.relay;
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
