export type Keccak = (bytes: Uint8Array) => Uint8Array;

let loading: Promise<Keccak> | undefined;

/** Keccak-256 of bytes. viem takes some 100 ms to load, so it is loaded at the first use. */
export function loadKeccak(): Promise<Keccak> {
  loading ??= import('viem/utils').then(
    ({ keccak256 }) =>
      (bytes) =>
        keccak256(bytes, 'bytes'),
  );
  return loading;
}
