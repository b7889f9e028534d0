import { wordOfHex } from './abi.ts';
import { askMany } from './ask-many.ts';
import type { ContractCall } from './multicall.ts';
import type { CallRpc } from './rpc.ts';
import type { Block } from './rpc-answers.ts';

export type AuthorizationKey = { readonly wallet: string; readonly nonce: string };

/** True when the authorization was used or canceled, false when it is still open; undefined when its state is unknown. */
export type AuthorizationState = boolean | undefined;

const AUTHORIZATION_STATE = '0xe94a0102';

/** Returns the token's state of each authorization at one block. Rejects as `askMany` does. */
export async function authorizationStates(
  rpc: CallRpc,
  usdc: string,
  at: Pick<Block, 'hash'>,
  keys: readonly AuthorizationKey[],
): Promise<readonly AuthorizationState[]> {
  const questions = keys.map(
    ({ wallet, nonce }): ContractCall => ({
      to: usdc,
      data: `${AUTHORIZATION_STATE}${wordOfHex(wallet)}${wordOfHex(nonce)}`,
    }),
  );
  return (await askMany(rpc, questions, at)).map(stateIn);
}

function stateIn(answer: string | undefined): AuthorizationState {
  if (answer === undefined || !/^0x0{63}[01]$/.test(answer)) return undefined;
  return answer.endsWith('1');
}
