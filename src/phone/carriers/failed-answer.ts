import { headOf } from '../../kernel/storable.ts';
import { CarrierFailed } from './carrier.ts';

/** Client-error statuses that say nothing about the request itself: a timeout, too early, too many requests. */
const UNDECIDED = new Set([408, 425, 429]);

/** Returns `away` for a status after which the request may have been carried out or may succeed later, else `refused`. */
export const kindOfStatus = (status: number): 'refused' | 'away' =>
  status >= 400 && status < 500 && !UNDECIDED.has(status) ? 'refused' : 'away';

/** The failure of a request that has no answer, or none that can be read. */
export const carrierAway = (carrier: string, cause: unknown): CarrierFailed =>
  new CarrierFailed('away', `${carrier} gave no answer`, { cause });

/** Error answer of a carrier. */
export type FailedAnswer = {
  readonly status: number;
  /** The carrier's own; absent where it gave none. */
  readonly code?: unknown;
  readonly words: unknown;
  /** Meaning of the carrier's code for the number; absent: none. */
  readonly number?: 'taken' | 'invalid' | undefined;
};

/** A telephone number, with or without its marks, or any other run of digits that may be a part of one. */
const NUMBERS = /\+?\d(?:[\s().-]*\d){3,}/g;
const WORDS_CHARS = 200;

/** The failure that an answer reports. A carrier's words name the numbers of a call, and no log may: they are masked. */
export function failedAnswer(carrier: string, answer: FailedAnswer): CarrierFailed {
  const { code, number, status, words } = answer;
  const plain = headOf(String(words ?? '').replace(NUMBERS, '#'), WORDS_CHARS);
  return new CarrierFailed(
    number ?? kindOfStatus(status),
    `${carrier} answered ${status}: ${plain}`,
    { code: String(code ?? status), cause: { status } },
  );
}
