import { storableJson } from '../../kernel/storable.ts';
import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Account } from '../rules/accounts.ts';
import type { AgentBatch, Guard, HoldChange } from '../rules/change.ts';
import type { Count } from '../rules/count.ts';
import type { Entry } from '../rules/posting.ts';
import { encodeCounters } from './counter-codec.ts';
import { addCompanion, type CompanionSheet } from './encode-companions.ts';

/** The arguments of `apply_batch`, as arrays by column. A null array is empty. */
export type EncodedBatch = {
  readonly parts: {
    readonly agent: string;
    readonly version: string;
    readonly size: string;
    readonly spendable: string;
    readonly held: string;
    readonly credited: string;
    readonly consumed: string;
    readonly wallet: string;
    readonly promised: string;
    /** Array of the encoded counters. Null when no counters change. */
    readonly counters: string | null;
  };
  readonly operations: {
    readonly part: string;
    readonly id: string;
    readonly code: string;
    readonly asked: string;
    readonly debits: string;
    readonly credits: string;
    readonly amounts: string;
    readonly nonce: string | null;
  };
  readonly holds: Record<keyof HoldColumns, string> | null;
  readonly team: Record<keyof TeamColumns, string> | null;
  readonly guards: Record<keyof GuardColumns, string> | null;
  readonly companions: string | null;
};

type Columns<K extends string, T> = Record<K, T[]>;

/** Returns true when the account's name needs no quotes. Only names with a vendor's text may contain any character. */
const isPlain = (account: Account): boolean =>
  account.startsWith('agent:') ||
  !(account.startsWith('shortfall:') || account.startsWith('credit:'));

/** Returns the accounts on one side of the entries as a `text[]` literal. */
export function accountArray(entries: readonly Entry[], side: 'debit' | 'credit'): string {
  const [only] = entries;
  if (only !== undefined && entries.length === 1 && isPlain(only[side])) return `{${only[side]}}`;
  return textArray(entries.map((entry) => entry[side]));
}

export function amountArray(entries: readonly Entry[]): string {
  const [only] = entries;
  if (only !== undefined && entries.length === 1) return `{${only.amountRaw}}`;
  return numberArray(entries.map((entry) => entry.amountRaw));
}

/** Encodes parts as columns. The parts must be in ascending order of their agents. */
export function encodeBatch(parts: readonly AgentBatch[]): EncodedBatch {
  const o = {
    part: [] as number[],
    id: [] as (string | null)[],
    code: [] as (string | null)[],
    asked: [] as (bigint | null)[],
    debits: [] as (string | null)[],
    credits: [] as (string | null)[],
    amounts: [] as (string | null)[],
    nonce: [] as (string | null)[],
  };
  const h = holdColumns();
  const t = teamColumns();
  const g: GuardColumns = { op: [], id: [], epoch: [], state: [], done: [] };
  const sheet: CompanionSheet = {};
  let rides = false;
  for (let p = 0; p < parts.length; p++) {
    for (const change of parts[p]?.changes ?? []) {
      const op = o.part.push(p + 1);
      const entries = change.posting?.entries ?? [];
      o.id.push(change.posting?.id ?? null);
      o.code.push(change.posting?.code ?? null);
      o.asked.push(change.posting?.askedRaw ?? null);
      o.debits.push(change.probe ? null : accountArray(entries, 'debit'));
      o.credits.push(accountArray(entries, 'credit'));
      o.amounts.push(amountArray(entries));
      o.nonce.push(change.posting?.nonce ?? null);
      if (change.hold !== null) addHold(h, op, change.hold);
      if (change.count !== null) addTeamCounts(t, op, change.count);
      if (change.guard !== null) addGuard(g, op, change.guard);
      for (const companion of change.companions) {
        addCompanion(sheet, op, change.posting?.id ?? null, companion);
        rides = true;
      }
    }
  }
  return {
    parts: encodeParts(parts),
    operations: {
      part: numberArray(o.part),
      id: textArray(o.id),
      code: textArray(o.code),
      asked: numberArray(o.asked),
      debits: textArray(o.debits),
      credits: textArray(o.credits),
      amounts: textArray(o.amounts),
      nonce: o.nonce.some((nonce) => nonce !== null) ? textArray(o.nonce) : null,
    },
    holds: h.op.length === 0 ? null : encodeHolds(h),
    team: t.op.length === 0 ? null : encodeTeam(t),
    guards: g.op.length === 0 ? null : encodeGuards(g),
    companions: rides ? storableJson(sheet) : null,
  };
}

type HoldColumns = Columns<'op', number> &
  Columns<'id', string> &
  Columns<'from' | 'to', bigint | null> &
  Columns<'session' | 'task' | 'host' | 'payee', string | null> &
  Columns<'key', number | null>;

type GuardColumns = Columns<'op', number> &
  Columns<'id', string> &
  Columns<'epoch', number | null> &
  Columns<'state' | 'done', string | null>;

type TeamColumns = Columns<'op' | 'policy' | 'bucket', number> &
  Columns<'held' | 'settled', bigint> &
  Columns<'cap', bigint | null> &
  Columns<'stops', string>;

const holdColumns = (): HoldColumns => ({
  op: [],
  id: [],
  from: [],
  to: [],
  session: [],
  key: [],
  task: [],
  host: [],
  payee: [],
});

const teamColumns = (): TeamColumns => ({
  op: [],
  policy: [],
  bucket: [],
  held: [],
  settled: [],
  cap: [],
  stops: [],
});

function addTeamCounts(columns: TeamColumns, op: number, count: Count): void {
  for (const { policy, bucket, capRaw } of count.team) {
    columns.op.push(op);
    columns.policy.push(policy.id);
    columns.bucket.push(bucket);
    columns.held.push(count.heldRaw);
    // A correction only locks the counter here. `write_companions` changes the earlier bucket.
    columns.settled.push(count.correctedBuckets === undefined ? count.settledRaw : 0n);
    columns.cap.push(capRaw);
    columns.stops.push(policy.action === 'suspend_agent' ? 't' : 'f');
  }
}

const encodeTeam = (columns: TeamColumns) => ({
  op: numberArray(columns.op),
  policy: numberArray(columns.policy),
  bucket: numberArray(columns.bucket),
  held: numberArray(columns.held),
  settled: numberArray(columns.settled),
  cap: numberArray(columns.cap),
  stops: `{${columns.stops.join(',')}}`,
});

function addGuard(columns: GuardColumns, op: number, guard: Guard): void {
  columns.op.push(op);
  columns.id.push(guard.id);
  columns.epoch.push(guard.row === 'session' ? guard.epoch : null);
  columns.state.push(guard.row === 'reservation' ? guard.state : null);
  columns.done.push(guard.row === 'reservation' ? guard.doneAt : null);
}

const encodeGuards = (columns: GuardColumns) => ({
  op: numberArray(columns.op),
  id: textArray(columns.id),
  epoch: numberArray(columns.epoch),
  state: textArray(columns.state),
  done: textArray(columns.done),
});

function addHold(columns: HoldColumns, op: number, hold: HoldChange): void {
  columns.op.push(op);
  columns.id.push(hold.holdId);
  columns.from.push(hold.fromRaw);
  columns.to.push(hold.toRaw);
  columns.session.push(hold.sessionId);
  // The facts are read when a hold is opened. A hold that grows or ends keeps the facts in its row.
  const { facts } = hold;
  columns.key.push(facts.keyRootId);
  columns.task.push(facts.taskId);
  columns.host.push(facts.host);
  columns.payee.push(facts.payee);
}

const encodeHolds = (columns: HoldColumns) => ({
  op: numberArray(columns.op),
  id: textArray(columns.id),
  from: numberArray(columns.from),
  to: numberArray(columns.to),
  session: textArray(columns.session),
  key: numberArray(columns.key),
  task: textArray(columns.task),
  host: textArray(columns.host),
  payee: textArray(columns.payee),
});

function encodeParts(parts: readonly AgentBatch[]): EncodedBatch['parts'] {
  return {
    agent: numberArray(parts.map((part) => part.agentId)),
    version: numberArray(parts.map((part) => part.before.version)),
    size: numberArray(parts.map((part) => part.writes)),
    spendable: numberArray(parts.map((p) => p.after.spendableRaw - p.before.spendableRaw)),
    held: numberArray(parts.map((p) => p.after.heldRaw - p.before.heldRaw)),
    credited: numberArray(parts.map((p) => p.after.creditedRaw - p.before.creditedRaw)),
    consumed: numberArray(parts.map((p) => p.after.consumedRaw - p.before.consumedRaw)),
    wallet: numberArray(parts.map((p) => p.after.walletRaw - p.before.walletRaw)),
    promised: numberArray(parts.map((p) => p.after.promisedRaw - p.before.promisedRaw)),
    counters: parts.some((p) => p.counted) ? textArray(parts.map(packed)) : null,
  };
}

const packed = ({ counted, after }: AgentBatch): string | null =>
  counted ? encodeCounters(after.counters) : null;
