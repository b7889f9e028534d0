import { headOf } from '../../kernel/storable.ts';
import { CarrierFailed } from './carrier.ts';

/** Client-error statuses that say nothing about the request itself: a timeout, too early, too many requests. */
const UNDECIDED = new Set([408, 425, 429]);

/** Returns `away` for a status after which the request may have been carried out or may succeed later, else `refused`. */
export const kindOfStatus = (status: number): 'refused' | 'away' =>
  status >= 400 && status < 500 && !UNDECIDED.has(status) ? 'refused' : 'away';

/** Returns the failure of a request that got no answer, or no readable answer. */
export const carrierAway = (carrier: string, cause: unknown): CarrierFailed =>
  new CarrierFailed('away', `${carrier} gave no answer`, { cause });

/** Error answer of a carrier. */
export type FailedAnswer = {
  readonly status: number;
  /** Error code of the carrier. Absent: the answer has none. */
  readonly code?: unknown;
  readonly words: unknown;
  /** Meaning of the carrier's code for the number; absent: none. */
  readonly number?: 'taken' | 'invalid' | undefined;
};

/** A telephone number, with or without separators, or any other run of four or more digits that may be a part of a number. */
const NUMBERS = /\+?\d(?:[\s().-]*\d){3,}/g;
const WORDS_CHARS = 200;

/**
 * Returns the failure that a carrier's answer reports. Numbers in the carrier's words are masked, because no log may hold the
 * numbers of a call.
 */
export function failedAnswer(carrier: string, answer: FailedAnswer): CarrierFailed {
  const { code, number, status, words } = answer;
  const plain = headOf(String(words ?? '').replace(NUMBERS, '#'), WORDS_CHARS);
  return new CarrierFailed(
    number ?? kindOfStatus(status),
    `${carrier} answered ${status}: ${plain}`,
    { code: String(code ?? status), cause: { status } },
  );
}
