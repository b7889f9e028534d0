import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { startToolWorld, type ToolWorld } from '../support/tool-world.ts';
import { MARKET, SPEECH, TEXT, TEXT_RAW } from '../support/vendors/market-world.ts';
import { startVendorPeer, type VendorPeer } from '../support/vendors/vendor-peer.ts';
import { settledMoney } from '../support/whole-world.ts';

const DEPOSIT_RAW = 1_000_000n;

let bench: ToolWorld;
let peer: VendorPeer;
beforeAll(async () => {
  peer = await startVendorPeer();
  bench = await startToolWorld({ MARKETPLACE_URL: MARKET }, { secret: peer.secret });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await peer[Symbol.asyncDispose]();
});

const tool = {
  type: 'service',
  name: 'call_vendor',
  hosts: [new URL(MARKET).hostname],
  maxCostRaw: '5000',
};

/** What the model sends to have a text of so many times 100 characters spoken. */
const speech = (times = 1) => ({
  url: `${MARKET}${SPEECH}`,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: TEXT.repeat(times) }),
});

const heldOf = async (agentId: number): Promise<bigint> => {
  const [row] = await bench.world.sql<{ raw: bigint }[]>`
    select held_raw as raw from agent_funds where agent_id = ${agentId}`;
  return row?.raw ?? -1n;
};

describe('a purchase at the marketplace by a tool of a call', () => {
  it("a marketplace purchase by a tool of a call is paid once from the call's hold, within limit and caps, and is in the report", async () => {
    const call = await bench.talking('market', [tool]);
    const before = await heldOf(call.agentId);
    const bought = await call.calls('c1', 'call_vendor', speech());
    expect(bought.outcome, bought.result ?? '').toBe('done');
    expect(bought.costRaw).toBe(TEXT_RAW);
    expect(bought.result).toContain('audioBase64');
    expect(peer.heard).toHaveLength(1);
    expect(await heldOf(call.agentId)).toBe(before - TEXT_RAW);
    await call.asks('c1', 'call_vendor', speech());
    await bench.soon(() => call.read().join()).toContain('made before');
    expect(peer.heard).toHaveLength(1);

    const dear = await call.calls('c2', 'call_vendor', speech(2));
    expect(dear).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(dear.result).toContain('reserve_exceeded');

    peer.faults.push({ kind: 'status', status: 500 });
    const failed = await call.calls('c3', 'call_vendor', speech());
    expect(failed).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(await heldOf(call.agentId)).toBe(before - TEXT_RAW);

    await call.ask('/v1/agents/policies', {
      body: { kind: 'api', matchKey: tool.hosts[0], limitRaw: '5000' },
    });
    const capped = await call.calls('c4', 'call_vendor', speech());
    expect(capped).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(capped.result).toContain('spend_limit_exceeded');
    expect(peer.heard).toHaveLength(2);
    expect(await heldOf(call.agentId)).toBe(before - TEXT_RAW);

    await call.hangsUp();
    const money = await settledMoney(bench.world.sql, call.agentId, 20_000);
    expect(money.spendable).toBe(DEPOSIT_RAW - money.charged);
    const { receipt, tools } = (await call.report()) as {
      tools: { costRaw: string; outcome: string }[];
      receipt: Record<string, string>;
    };
    expect(tools.map(({ costRaw, outcome }) => [outcome, costRaw])).toEqual([
      ['done', `${TEXT_RAW}`],
      ['failed', '0'],
      ['failed', '0'],
      ['failed', '0'],
    ]);
    expect([receipt.toolsRaw, receipt.totalRaw]).toEqual([`${TEXT_RAW}`, `${money.charged}`]);
    expect(await checkInvariants(bench.world.sql)).toEqual([]);
  });
});
