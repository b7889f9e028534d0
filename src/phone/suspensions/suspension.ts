/** The phone service of an account is off: it rents, places and receives nothing. */
export type Suspension = {
  readonly accountId: string;
  readonly reason: string;
  readonly createdAt: Date;
};

/** The phone service of every account is off. */
export type TelephonyStop = Omit<Suspension, 'accountId'>;
