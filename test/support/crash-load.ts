import { request } from 'undici';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';

/** What the server acknowledged, and what it was asked for without an answer. */
export type CrashLedger = {
  readonly credits: Map<string, { agentId: number; amountRaw: bigint; acknowledged: boolean }>;
  /** Task id of an acknowledged completion → the cost its header named. */
  readonly debits: Map<string, bigint>;
};

export type CrashTarget = {
  readonly url: string;
  readonly adminApiKey: string;
  readonly agents: readonly FundedAgent[];
  readonly model: string;
};

/** Sends one credit; a connection that dies leaves it unacknowledged, to be sent again with its reference. */
export async function sendCredit(
  target: CrashTarget,
  ledger: CrashLedger,
  reference: string,
): Promise<void> {
  const credit = ledger.credits.get(reference);
  if (credit === undefined) throw new Error(`no caller asked for ${reference}`);
  const answer = await request(`${target.url}/v1/admin/agents/${credit.agentId}/credit`, {
    method: 'POST',
    headers: { 'x-admin-key': target.adminApiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ amountRaw: credit.amountRaw.toString(), reference }),
  });
  const body = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`credit answered ${answer.statusCode}: ${body}`);
  credit.acknowledged = true;
}

async function buyCompletion(
  target: CrashTarget,
  ledger: CrashLedger,
  taskId: string,
): Promise<void> {
  const agent = target.agents[ledger.debits.size % target.agents.length] as FundedAgent;
  const answer = await request(`${target.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agent.agentKey}`,
      'content-type': 'application/json',
      'x-svc-task-id': taskId,
    },
    body: JSON.stringify({
      model: target.model,
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 16,
    }),
  });
  await answer.body.text();
  if (answer.statusCode === 200)
    ledger.debits.set(taskId, BigInt(String(answer.headers['x-svc-cost-usdc'])));
}

/** Keeps `callers` calls under way until the server is gone. Resolves when every caller has noticed. */
export async function loadUntilGone(
  target: CrashTarget,
  ledger: CrashLedger,
  options: { readonly round: number; readonly callers: number; readonly stopped: AbortSignal },
): Promise<void> {
  const { round, callers, stopped } = options;
  const caller = async (name: number) => {
    for (let n = 0; !stopped.aborted; n++) {
      const id = `r${round}-c${name}-n${n}`;
      try {
        if (n % 3 === 0) {
          const agent = target.agents[n % target.agents.length] as FundedAgent;
          ledger.credits.set(id, {
            agentId: agent.agentId,
            amountRaw: BigInt(1 + n),
            acknowledged: false,
          });
          await sendCredit(target, ledger, id);
        } else {
          await buyCompletion(target, ledger, id);
        }
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, name) => caller(name)));
}

const LOST = new Set(['ECONNRESET', 'ECONNREFUSED', 'UND_ERR_SOCKET', 'EPIPE', 'UND_ERR_CLOSED']);
const isConnectionLoss = (error: unknown) =>
  LOST.has(String((error as NodeJS.ErrnoException).code));
