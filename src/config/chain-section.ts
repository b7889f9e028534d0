import { z } from 'zod';
import { CONFIG_LIMITS } from './limits.ts';
import { address, optional } from './variable-kinds.ts';

/** Id and contract addresses of the Base main network, as published. */
export const MAINNET = {
  chainId: 8_453,
  usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  weth: '0x4200000000000000000000000000000000000006',
  matcher: '0x17946cD3e180f82e632805e5549EC913330Bb175',
  /** Addresses of Chainlink feeds, which answer AggregatorV3's `latestRoundData()`. */
  oracle: '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
  sequencerFeed: '0xBCF85224fc0756B9Fa45aA7892530B47e10b6433',
} as const;

/** Description of an address as the value of a variable, for docs/configuration.md. */
export const ADDRESS = '`0x` and 40 hex digits';

/** Environment variables of the chain. */
export const CHAIN_SECTION = {
  RPC_URL: optional(z.url()).meta({
    description: 'The RPC endpoint of the chain.',
    unset: 'no chain traffic, and paid calls are refused',
  }),
  USDC_ADDRESS: optional(address).meta({
    description: 'The token that wallets hold. The default is the deployment on chain 8453.',
    takes: ADDRESS,
    defaultsTo: MAINNET.usdc,
  }),
  PRICE_ORACLE_ADDRESS: optional(address).meta({
    description: "Answers AggregatorV3's `latestRoundData()` with the price of ether in dollars.",
    takes: ADDRESS,
    defaultsTo: MAINNET.oracle,
  }),
  SEQUENCER_FEED_ADDRESS: optional(address).meta({
    description:
      'Answers `latestRoundData()` with whether the sequencer is up. Paid calls are refused ' +
      'while this feed or the price feed is bad or cannot be read.',
    takes: ADDRESS,
    defaultsTo: MAINNET.sequencerFeed,
  }),
  TREASURY_ADDRESS: optional(address).meta({
    description: 'Where consumed funds are swept to out of agent wallets, from one dollar on.',
    takes: ADDRESS,
    unset: 'consumed funds stay in agent wallets',
  }),
  CHAIN_CONFIRMATIONS: optional(z.coerce.number().int().min(0).max(1_000)).meta({
    description: 'Blocks on top of a block before it counts. At least 1 in production.',
    defaultsTo: String(CONFIG_LIMITS.chain.confirmations),
  }),
  RECONCILE_SECONDS: optional(z.coerce.number().min(0.05).max(3_600)).meta({
    description: 'Time between two readings of the chain. Fixed in production.',
    defaultsTo: String(CONFIG_LIMITS.chain.reconcileSeconds),
  }),
  CHAIN_CLOCK_SKEW_SECONDS: optional(z.coerce.number().min(0).max(1_000_000_000)).meta({
    description:
      'How far the clocks of chain and server may be apart. Beyond it paid calls are refused. ' +
      'Fixed in production.',
    defaultsTo: String(CONFIG_LIMITS.chain.clockSkewSeconds),
  }),
};
