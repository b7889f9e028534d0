import { wordOfHex } from './abi.ts';
import { askMany } from './ask-many.ts';
import type { ContractCall } from './multicall.ts';
import type { CallRpc } from './rpc.ts';
import type { Block } from './rpc-answers.ts';

const BALANCE_OF = '0x70a08231';

/** Returns the USDC balances at one block, in the order of `wallets`; undefined where the chain could not answer. */
export async function usdcHeld(
  rpc: CallRpc,
  usdc: string,
  at: Pick<Block, 'hash'>,
  wallets: readonly string[],
): Promise<readonly (bigint | undefined)[]> {
  const questions = wallets.map(
    (wallet): ContractCall => ({ to: usdc, data: `${BALANCE_OF}${wordOfHex(wallet)}` }),
  );
  return (await askMany(rpc, questions, at)).map((answer) =>
    answer !== undefined && /^0x[0-9a-f]{64}$/.test(answer) ? BigInt(answer) : undefined,
  );
}
