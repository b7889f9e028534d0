import { expect } from 'vitest';
import type { FakeLedger } from './fake-ledger.ts';

/** Waits until no hold is open: the settlement follows the close frame. */
export const settled = (ledger: FakeLedger): Promise<void> =>
  expect.poll(() => ledger.openHolds()).toBe(0);
