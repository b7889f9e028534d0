import type { CallValues } from '../calls/call.ts';

/** A call as its responder knows it. */
export type CallParties = {
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** Values that the call was given; absent: none. */
  readonly variables?: CallValues | undefined;
  readonly metadata?: CallValues | undefined;
};

/** Rules for interrupting the latest answer of a responder. */
export type AnswerManner = {
  readonly mayBeInterrupted: boolean;
  /** It has said all for now: nothing is interrupted, though the responder may still go on with it. */
  readonly isResting: boolean;
};
