import {
  type Address,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  type LocalAccount,
  parseAbi,
  sliceHex,
} from 'viem';

export const USDC: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

/** What a wallet signs so that any bearer may move its money once. */
export type Transfer = {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

export const USDC_DOMAIN = {
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: USDC,
} as const;

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export const USDC_ABI = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
  'function cancelAuthorization(address authorizer,bytes32 nonce,bytes signature)',
  'function authorizationState(address authorizer,bytes32 nonce) view returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address to,uint256 value) returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'event Transfer(address indexed from,address indexed to,uint256 value)',
  'event AuthorizationUsed(address indexed authorizer,bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer,bytes32 indexed nonce)',
]);

const typed = (message: Transfer) =>
  ({
    domain: USDC_DOMAIN,
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  }) as const;

/** The 32 bytes that are signed. */
export const digestOf = (transfer: Transfer): Hex => hashTypedData(typed(transfer));

/** Signs with viem, which shares no line with the product's own signer. */
export const signTransfer = (account: LocalAccount, transfer: Transfer): Promise<Hex> =>
  account.signTypedData(typed(transfer));

/** Signs that the nonce shall never be used. */
export const signCancel = (account: LocalAccount, nonce: Hex): Promise<Hex> =>
  account.signTypedData({
    domain: USDC_DOMAIN,
    types: TYPES,
    primaryType: 'CancelAuthorization',
    message: { authorizer: account.address, nonce },
  });

/** The call that moves the money, in either of the contract's two spellings. */
export function transferCall(transfer: Transfer, signature: Hex, form: 'bytes' | 'vrs'): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = transfer;
  const head = [from, to, value, validAfter, validBefore, nonce] as const;
  const functionName = 'transferWithAuthorization';
  if (form === 'bytes') {
    return encodeFunctionData({ abi: USDC_ABI, functionName, args: [...head, signature] });
  }
  const [r, s] = [sliceHex(signature, 0, 32), sliceHex(signature, 32, 64)];
  const v = Number(sliceHex(signature, 64, 65));
  return encodeFunctionData({ abi: USDC_ABI, functionName, args: [...head, v, r, s] });
}
