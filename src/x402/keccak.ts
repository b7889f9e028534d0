export type Keccak = (bytes: Uint8Array) => Uint8Array;

let loading: Promise<Keccak> | undefined;

/** Loads the Keccak-256 hash function. It is loaded at the first use, because loading viem takes about 100 ms. */
export function loadKeccak(): Promise<Keccak> {
  loading ??= import('viem/utils').then(
    ({ keccak256 }) =>
      (bytes) =>
        keccak256(bytes, 'bytes'),
  );
  return loading;
}
