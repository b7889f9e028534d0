import type { CallValues } from '../calls/call.ts';

/** Facts of a call for its responder. */
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
  /** True when the answer has paused: no sound is left to interrupt, although the responder may continue the answer. */
  readonly isResting: boolean;
};
