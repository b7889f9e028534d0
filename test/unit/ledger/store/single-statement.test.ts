import { describe, expect, it } from 'vitest';
import { applyChange, partOf } from '../../../../src/ledger/rules/agent-batch.ts';
import type {
  AgentBatch,
  BalanceState,
  Change,
  Companion,
} from '../../../../src/ledger/rules/change.ts';
import type { ChargeRow } from '../../../../src/ledger/rules/companion.ts';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import type {
  HoldOperation,
  Operation,
  SettleOperation,
} from '../../../../src/ledger/rules/operation.ts';
import { applySingle } from '../../../../src/ledger/store/apply-single.ts';
import { isSingleCompanion } from '../../../../src/ledger/store/single-companions.ts';
import {
  bigint,
  integer,
  SingleStatement,
  text,
} from '../../../../src/ledger/store/single-statement.ts';
import type { Queryable } from '../../../../src/platform/postgres/sql.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { moveOf, nonceOf, paidCharge, reservationOf } from '../../../support/payments.ts';
import { DESTINATION, FACTS, momentAt, policyOf } from '../../../support/spending.ts';

const AGENT = 7;
const NODE = { nodeId: 'node', leaseEpoch: 1 };

type Sent = { readonly text: string; readonly values: readonly unknown[]; readonly how: unknown };

/** A database that writes down what it is told; the agent's row moves, or has moved before. */
function recording(moves = true) {
  const sent: Sent[] = [];
  const unsafe = async (said: string, values: readonly unknown[], how: unknown) => {
    sent.push({ text: said, values, how });
    return moves ? [{}] : [];
  };
  return { sent, sql: { unsafe } as unknown as Queryable };
}

const state = (heldRaw: bigint): BalanceState => ({
  version: 3n,
  rulesVersion: 0n,
  spendableRaw: 1_000n,
  heldRaw,
  consumedRaw: 0n,
  creditedRaw: 1_000n + heldRaw,
  walletRaw: 1_000n,
  promisedRaw: heldRaw,
  counters: [],
});

const hold = (change: Partial<HoldOperation> = {}): HoldOperation => ({
  kind: 'hold',
  agentId: AGENT,
  spender: { agentId: AGENT, keyId: 1 },
  holdId: 'h',
  amountRaw: 10n,
  destination: DESTINATION,
  session: null,
  reservation: null,
  ...change,
});

const settle = (
  charge: Partial<ChargeRow> = {},
  change: Partial<SettleOperation> = {},
): SettleOperation => ({
  kind: 'settle',
  agentId: AGENT,
  hold: { holdId: 'h', agentId: AGENT, amountRaw: 10n, facts: FACTS },
  request: {
    actualRaw: 4n,
    account: 'gateway',
    source: 'acme',
    charges: (chargedRaw) => [{ ...paidCharge(AGENT, chargedRaw), ...charge }],
  },
  ends: null,
  move: null,
  ...change,
});

const credit = (reference = 'r'): Operation => ({
  kind: 'credit',
  agentId: AGENT,
  amountRaw: 5n,
  reference,
  deposit: false,
  events: [
    { name: 'e', accountId: 'a', agentWallet: null, correlationId: null, payload: { of: 'it' } },
  ],
});

const advance = (to: 'sent' | 'pending_settlement', learnt = {}): Operation => ({
  kind: 'advance',
  agentId: AGENT,
  holdId: 'h',
  move: { ...moveOf('h', 'reserved', to), learnt },
});

/** A batch of one decided operation, before which so much was held. */
function partFor(operation: Operation): AgentBatch {
  const before = state(operation.kind === 'settle' ? 10n : 0n);
  const position = momentAt(1_000_000);
  const { change } = decide(before, operation, { rules: ACTIVE, position, openHolds: new Map() });
  const after = change.probe ? before : applyChange(before, change, position);
  return partOf(AGENT, before, after, [change]);
}

const withChange = (part: AgentBatch, change: Partial<Change>): AgentBatch => ({
  ...part,
  changes: part.changes.map((each) => ({ ...each, ...change })),
});

async function statementOf(operation: Operation): Promise<Sent> {
  const { sent, sql } = recording();
  expect(await applySingle(sql, NODE, [partFor(operation)])).toBe(true);
  expect(sent).toHaveLength(1);
  return sent[0] as Sent;
}

/** What goes alone, each kind by the rows that it writes. */
const KINDS: readonly (readonly [string, Operation, readonly string[]])[] = [
  ['a hold', hold(), ['postings', 'holds']],
  [
    'a hold with its payment',
    hold({ reservation: reservationOf('h') }),
    ['postings', 'holds', 'reservations'],
  ],
  ['a settlement', settle(), ['postings', 'charges', 'spend_totals']],
  [
    'a settlement of an action',
    settle({ actionId: 'act' }),
    ['postings', 'charges', 'spend_totals', 'action_totals'],
  ],
  ['a credit', credit(), ['postings', 'events']],
  ['a step of a payment', advance('sent'), []],
];

describe('what goes alone', () => {
  it.each(KINDS)(
    '%s is written by one prepared statement with all its rows',
    async (_, operation, tables) => {
      const { text: said, values, how } = await statementOf(operation);
      expect(how).toEqual({ prepare: true });
      const inserted = [...said.matchAll(/insert into (\w+)/g)].map(([, table]) => table);
      expect(inserted).toEqual(tables);
      const places = [...said.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n));
      expect(new Set(places)).toEqual(new Set(values.map((_value, i) => i + 1)));
    },
  );

  it.each(KINDS)('%s writes nothing unless the agent’s row moves', async (_, work) => {
    const { text: said } = await statementOf(work);
    const tail = ' select 1 from agent';
    expect(said.endsWith(tail)).toBe(true);
    const [first, ...rest] = said.slice(0, -tail.length).split(/, c\d+ as \(/);
    expect(first).toMatch(/^with agent as \(\s*update agent_funds f set version = f\.version \+ 1/);
    expect(first).toContain('f.version =');
    expect(rest.length).toBeGreaterThan(0);
    for (const clause of rest) expect(clause).toMatch(/\b(from|using) agent\b/);
    const names = [...said.matchAll(/, (c\d+) as \(/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('a single statement is not applied where the agent’s row has not moved', async () => {
    const { sent, sql } = recording(false);
    expect(await applySingle(sql, NODE, [partFor(hold())])).toBe(false);
    expect(sent).toHaveLength(1);
  });
});

describe('what does not go alone is not sent at all:', () => {
  const one = partFor(hold());
  const [change] = one.changes as [Change];
  const counted = { policy: policyOf(), bucket: 0, capRaw: 100n };
  const team = { heldRaw: 10n, settledRaw: 0n, own: [], team: [counted] };
  const companion = (row: Companion): AgentBatch => withChange(one, { companions: [row] });

  it.each<readonly [string, readonly AgentBatch[]]>([
    ['nothing', []],
    ['a part of nothing', [{ ...one, changes: [] }]],
    ['two agents', [one, one]],
    ['two operations of one', [{ ...one, changes: [change, change] }]],
    ['a refusal, which is only looked for', [partFor(hold({ amountRaw: 1_001n }))]],
    ['a cap of the team', [withChange(one, { count: team })]],
    ['the guard of a session', [withChange(one, { guard: { row: 'session', id: 's', epoch: 1 } })]],
    [
      'a hold that grows',
      [withChange(one, { hold: { ...holdIn(change), fromRaw: 10n, toRaw: 20n } })],
    ],
    ['the end of a session', [companion({ row: 'session.ended', sessionId: 's', reason: 'r' })]],
    ['a payout', [companion({ row: 'payout.done', nonce: nonceOf('p'), txHash: '0x' })]],
    ['a suspension', [companion({ row: 'agent.suspended', agentId: AGENT, policyId: 1 })]],
    ['a threshold', [companion({ row: 'threshold.crossed', thresholdId: 1, state: 'above' })]],
  ])(
    'ledger work that a single statement cannot write is not sent at all: %s',
    async (_, parts) => {
      const { sent, sql } = recording();
      expect(await applySingle(sql, NODE, parts)).toBe(false);
      expect(sent).toEqual([]);
    },
  );

  it('isSingleCompanion refuses a row that a single statement cannot write', () => {
    const rows = [...partFor(settle()).changes].flatMap(({ companions }) => companions);
    expect(rows.map(isSingleCompanion)).toEqual([true]);
    expect(isSingleCompanion({ row: 'session.ended', sessionId: 's', reason: 'r' })).toBe(false);
  });
});

function holdIn({ hold: opened }: Change) {
  if (opened === null) throw new Error('a hold opens a hold');
  return opened;
}

describe('the text of the statement', () => {
  const told = { txHash: '0xab', responseStatusCode: 200, latencyMs: 1.5 };

  it.each<readonly [string, Operation, Operation]>([
    ['holds', hold(), hold({ holdId: 'other', amountRaw: 99n, spender: { agentId: AGENT } })],
    [
      'holds with their payments',
      hold({ reservation: reservationOf('h') }),
      hold({ reservation: reservationOf('i', { x402Version: 1, method: 'PUT' }), amountRaw: 3n }),
    ],
    [
      'settlements, whatever is known of them',
      settle(),
      settle({
        keyId: 3,
        model: 'acme/chat',
        rail: 'direct',
        usage: { token: 4 },
        taskId: 't',
        status: 'failed',
        latencyMs: null,
        responseStatusCode: null,
        payee: '0x1',
      }),
    ],
    ['settlements of actions', settle({ actionId: 'a' }), settle({ actionId: 'b' })],
    ['credits', credit(), credit('another')],
    [
      'steps of payments, whatever was learnt',
      advance('pending_settlement'),
      advance('pending_settlement', told),
    ],
  ])('the text of a single statement is the same for all %s', async (_, one, other) => {
    const [first, second] = [await statementOf(one), await statementOf(other)];
    expect(second.text).toBe(first.text);
    expect(second.values).not.toEqual(first.values);
  });

  it('each kind of ledger work has its own statement text', async () => {
    const works = [
      ...KINDS.map(([, work]) => work),
      advance('pending_settlement'),
      advance('sent', { refused: true }),
    ];
    const texts = await Promise.all(works.map(async (work) => (await statementOf(work)).text));
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('a ledger statement has no value in its text: each cell is a typed parameter', async () => {
    const { sent, sql } = recording();
    const statement = new SingleStatement();
    const agent = integer(1);
    statement.add`select ${agent}, ${bigint(2n)}, ${text("it's")}`;
    statement.clause`select ${['json', '{}']}, ${agent}`;
    await statement.run(sql);
    expect(sent[0]?.text).toBe(
      'select $1::integer, $2::bigint, $3::text, c1 as (select $4::text::jsonb, $1::integer)',
    );
    expect(sent[0]?.values).toEqual([1, 2n, "it's", '{}']);
  });

  it('the statements of a hold and of a chat settlement have at most 30 parameters', async () => {
    const asked = await Promise.all([hold(), settle()].map(statementOf));
    for (const { values } of asked) expect(values.length).toBeLessThanOrEqual(30);
  });
});

describe('text that the database cannot hold', () => {
  const NUL = 'a\0b';
  const HALF = 'a\ud800b';

  it('an id of money that the database cannot hold is sent unaltered, so that the database refuses it', async () => {
    const { values } = await statementOf(hold({ holdId: NUL }));
    const named = values.filter((value) => typeof value === 'string' && value.includes('a\0b'));
    // The posting and the hold.
    expect(named).toHaveLength(2);
    expect(values).not.toContain('ab');
    const holdId = `${NUL}2`;
    const settled = await statementOf(
      settle({}, { hold: { holdId, agentId: AGENT, amountRaw: 10n, facts: FACTS } }),
    );
    expect(settled.values.filter((value) => value === holdId)).toHaveLength(1);
    expect(settled.values).not.toContain('ab2');
  });

  it('the nonce of the payment that guards a step is sent unaltered', async () => {
    const move = { ...moveOf('h', 'reserved', 'sent'), nonce: NUL };
    const operation = { kind: 'advance', agentId: AGENT, holdId: 'h', move } as const;
    const { values, text: said } = await statementOf(operation);
    const place = /where r\.nonce = \$(\d+)::text\)/.exec(said)?.[1];
    expect(values[Number(place) - 1]).toBe(NUL);
  });

  it.each([
    ['NUL', NUL, 'ab'],
    ['half a character', HALF, 'a\ufffdb'],
  ])('a charge’s text that the database cannot hold is cleaned of %s', async (_, odd, clean) => {
    const asked = { targetUrl: odd, targetHost: odd, model: odd, taskId: odd, actionId: odd };
    const { values } = await statementOf(settle({ ...asked, usage: { [odd]: 1 } }));
    expect(values).not.toContain(odd);
    expect(values.filter((value) => value === clean)).toHaveLength(5);
  });

  it('an event’s payload that the database cannot hold is cleaned, down to its last text', async () => {
    const operation = credit();
    if (operation.kind !== 'credit') throw new Error('a credit is one');
    const [event] = operation.events;
    if (event === undefined) throw new Error('it has an event');
    const payload = { deep: [{ odd: NUL }, HALF], plain: 'p' };
    const { values } = await statementOf({ ...operation, events: [{ ...event, payload }] });
    expect(values).toContain(JSON.stringify({ deep: [{ odd: 'ab' }, 'a\ufffdb'], plain: 'p' }));
  });
});
