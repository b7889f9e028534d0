/** A call as its brain knows it. */
export type CallParties = {
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
};
