import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { holdTurn } from '../../../../src/voice/billing/hold-turn.ts';
import type { Reserves } from '../../../../src/voice/billing/session-hold.ts';
import { openSession, response } from '../../../support/realtime-session.ts';
import { policyOf } from '../../../support/spending.ts';
import { AGENT } from '../../../support/voice-world.ts';

/** A hold that grows to so much, and no further. */
function holdNameOf(mostRaw: bigint) {
  const asked: string[] = [];
  return {
    asked,
    async makeWhole({ p = 0n }: Readonly<Record<string, bigint>>, isQuiet = false) {
      asked.push(`${p}${isQuiet ? '' : '!'}`);
      if (p <= mostRaw) return { kind: 'extended' } as const;
      const breach = { policy: policyOf(), requiredRaw: p, spentRaw: 0n, capRaw: mostRaw };
      const room = { breach, availableRaw: mostRaw, suspended: false };
      const refusal = { reason: 'cap_exceeded', ...room } as const;
      const fits = ({ p: lessRaw = 0n }: Reserves) => lessRaw <= mostRaw;
      return { kind: 'refused', fits, refusal } as const;
    },
  };
}

const reservesOf = (tokens: number) => ({ p: BigInt(100 + tokens) });

describe('the hold of a turn', () => {
  it('the hold of a turn covers the longest answer, or the longest that the balance allows', async () => {
    const full = holdNameOf(2_000n);
    expect(await holdTurn(full, reservesOf, 1_000)).toMatchObject({ outputTokens: 1_000 });
    const short = holdNameOf(300n);
    const held = await holdTurn(short, reservesOf, 1_000);
    expect(held).toEqual({ verdict: { kind: 'extended' }, outputTokens: 200 });
    expect(short.asked).toEqual(['1100', '300']);
  });

  it('the hold of a turn is refused, and suspends the agent, when the shortest answer does not fit', async () => {
    const sessionHold = holdNameOf(100n);
    const { verdict } = await holdTurn(sessionHold, reservesOf, 1_000);
    expect([verdict.kind, sessionHold.asked]).toEqual([
      'refused',
      ['1100', `${100 + MODEL_LIMITS.tokens.leastOutput}!`],
    ]);
  });

  it('the response of a turn shows as max_output_tokens how long its held answer may be', async () => {
    const full = await openSession();
    const { reserveRaw } = full;
    const short = await openSession({ creditRaw: reserveRaw - 1n });
    await short.say('What can you do?');
    const created = short.socket.events.find(({ type }) => type === 'response.created');
    const shown = response(created) as unknown as { max_output_tokens: number };
    expect(shown.max_output_tokens).toBeGreaterThanOrEqual(MODEL_LIMITS.tokens.leastOutput);
    expect(shown.max_output_tokens).toBeLessThan(MODEL_LIMITS.tokens.usualOutput);
    expect((await short.ledger.funds(AGENT))?.spendableRaw).toBeGreaterThanOrEqual(0n);
  });
});
