/** A suspension of an account's phone service: its agents cannot rent numbers, and cannot place or receive calls. */
export type Suspension = {
  readonly accountId: string;
  readonly reason: string;
  readonly createdAt: Date;
};

/** A suspension of the phone service of all accounts. */
export type TelephonyStop = Omit<Suspension, 'accountId'>;
