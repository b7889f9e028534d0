import { marketplaceErrors, OwnRefusal } from './errors.ts';

/**
 * Memory of one call, out of a budget that all calls of the process share. Bytes are taken before they are read, or as
 * they come.
 */
export interface BytesShare {
  /** Takes `bytes` for data that is yet to come. Throws the refusal when the budget has less. */
  reserve(bytes: number): void;
  /** Counts `bytes` as used, out of the reserved ones first. Throws the refusal when the budget has less. */
  use(bytes: number): void;
  /** Gives back all but `bytes`. */
  shrinkTo(bytes: number): void;
}

/** Creates a budget of bytes for all calls of this process, with a bound for each account. */
export function createBytesInFlight({
  inAll,
  perAccount,
}: {
  readonly inAll: number;
  readonly perAccount: number;
}): (accountId: string) => BytesShare {
  const byAccount = new Map<string, number>();
  let heldBytes = 0;

  function take(accountId: string, bytes: number): void {
    const held = (byAccount.get(accountId) ?? 0) + bytes;
    if (held > perAccount || heldBytes + bytes > inAll) {
      throw new OwnRefusal(marketplaceErrors.vendorBusy('Too many bytes of calls are under way.'));
    }
    add(accountId, bytes);
  }
  function add(accountId: string, bytes: number): void {
    heldBytes += bytes;
    const held = (byAccount.get(accountId) ?? 0) + bytes;
    if (held > 0) byAccount.set(accountId, held);
    else byAccount.delete(accountId);
  }

  return (accountId) => {
    let takenBytes = 0;
    let usedBytes = 0;
    const growTo = (bytes: number) => {
      if (bytes <= takenBytes) return;
      take(accountId, bytes - takenBytes);
      takenBytes = bytes;
    };
    return {
      reserve: (bytes) => growTo(usedBytes + bytes),
      use(bytes) {
        growTo(usedBytes + bytes);
        usedBytes += bytes;
      },
      shrinkTo(bytes) {
        if (bytes < takenBytes) {
          add(accountId, bytes - takenBytes);
          takenBytes = bytes;
        }
        usedBytes = Math.min(usedBytes, bytes);
      },
    };
  };
}
