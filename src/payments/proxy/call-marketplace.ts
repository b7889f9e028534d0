import type { Log } from '../../kernel/log.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import { admitCall, viewAgent } from './admit-call.ts';
import type { MarketAnswer, MarketCall, Marketplace } from './marketplace.ts';
import type { PassthroughLog } from './passthrough-log.ts';
import type { ProxyAnswer } from './relay-answer.ts';
import { marketHeaders } from './relay-headers.ts';

export type MarketDeps = {
  readonly spendState: Pick<SpendStateReader, 'read' | 'recall'>;
  readonly ledger: Pick<Ledger, 'enforce'>;
  readonly passthroughs: PassthroughLog;
  readonly log: Log;
};

/**
 * Serves a call to this server's marketplace. The call is admitted like a call to any vendor, and a charged call is in the
 * agent's history before the answer is sent. Throws the refusal.
 */
export async function callMarketplace(
  { ledger, log, passthroughs, spendState }: MarketDeps,
  market: Marketplace,
  call: Omit<MarketCall, 'accountId'>,
): Promise<ProxyAnswer> {
  const { spender } = call;
  const { agentId } = spender;
  const { accountId } = await admitCall(ledger, viewAgent(spendState, agentId), spender, {
    host: market.host,
    lastRaw: undefined,
  });
  const answer = await market.call({ ...call, accountId });
  const { costRaw, headers, payment, upstreamMs } = answer;
  await noteMarketCall({ log, passthroughs }, call, answer);
  return {
    status: answer.status,
    headers: { ...headers, ...marketHeaders(costRaw, payment) },
    lines: [],
    body: answer.body,
    upstreamMs,
  };
}

/** Adds a call to the agent's history. For a charged call, resolves when its line is written or the write has failed. */
export async function noteMarketCall(
  { log, passthroughs }: Pick<MarketDeps, 'log' | 'passthroughs'>,
  { method, spender, url }: Pick<MarketCall, 'method' | 'spender' | 'url'>,
  { costRaw, payment, status, upstreamMs }: Omit<MarketAnswer, 'body' | 'headers'>,
): Promise<void> {
  const isCharged = payment === 'internal';
  passthroughs.add({
    agentId: spender.agentId,
    keyId: spender.keyId ?? null,
    targetUrl: withoutFragment(url),
    method,
    responseStatusCode: status,
    latencyMs: Math.round(upstreamMs),
    taskId: spender.taskId ?? null,
    actionId: spender.actionId ?? null,
    ...(isCharged && { chargedRaw: costRaw }),
  });
  if (isCharged) await written(passthroughs, log);
}

const withoutFragment = (url: string): string => {
  const { href, hash } = new URL(url);
  return hash === '' ? href : href.slice(0, -hash.length);
};

/**
 * Writes the waiting lines of calls. A failure is only logged: the charge is committed without its line, so that the answer
 * goes out in any case.
 */
async function written(passthroughs: PassthroughLog, log: Log): Promise<void> {
  try {
    await passthroughs.flush();
  } catch (err) {
    log.warn({ err }, 'the line of a call to the marketplace was not written yet');
  }
}
