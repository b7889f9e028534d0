/** What the chain shows of wallets and the books did not expect: each is for an operator to look at. */
export type PaymentAlarm =
  | 'moved_after_release'
  | 'settlement_vanished'
  | 'unknown_authorization'
  | 'deposit_conflict'
  | 'deposit_missed'
  | 'deposit_not_held'
  | 'wallet_differs'
  | 'wallet_flooded'
  | 'not_written'
  | 'reorganised';

export type OnAlarm = (alarm: PaymentAlarm) => void;
