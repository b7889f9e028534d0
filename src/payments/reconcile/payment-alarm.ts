/** Differences between the chain and the books that an operator must look at. */
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
