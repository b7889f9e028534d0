import type { ReservationState } from '../../../machines/reservation.ts';

/** A signed payment to a vendor, written with its hold before anything of it is sent. */
export type NewReservation = {
  /** Nonce of the authorization: 0x and 64 hex digits, in lower case. */
  readonly nonce: string;
  /** Wallet of the agent, which pays, and wallet of the vendor, in lower case. */
  readonly wallet: string;
  readonly payee: string;
  /** Unix seconds, by the chain's clock, from which the authorization is void. */
  readonly validBefore: number;
  readonly signature: string;
  readonly x402Version: 1 | 2;
  /** Name of the network in the vendor's spelling. */
  readonly network: string;
  readonly targetUrl: string;
  readonly targetHost: string;
  readonly method: string;
};

/** One step of a reservation. It is valid only when the row is in the state `from`. */
export type ReservationMove = {
  readonly nonce: string;
  readonly from: ReservationState;
  readonly to: ReservationState;
  /** Fields learnt with the step; an absent field stays as it was. */
  readonly learnt?: {
    readonly txHash?: string | undefined;
    readonly responseStatusCode?: number | undefined;
    readonly latencyMs?: number | undefined;
    /** True when the vendor answered that it does not accept the payment. */
    readonly refused?: true;
  };
};

/** A payout of USDC from an agent's wallet by this server. It has one nonce, however often it is signed. */
export type NewPayout = {
  readonly nonce: string;
  readonly kind: 'close' | 'sweep' | 'transfer';
  readonly wallet: string;
  readonly payee: string;
};

/** Returns the id of the hold for a payment that is made within work with a hold of its own. It contains the work's id. */
export const paymentHoldId = (workId: string): string => `${workId}:pay`;
