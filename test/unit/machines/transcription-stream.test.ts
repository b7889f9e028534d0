import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { MACHINE_LIMITS } from '../../../machines/limits.ts';
import {
  type TranscriptionStreamEvent,
  transcriptionStreamMachine,
} from '../../../machines/transcription-stream.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const unfinished = { code: 1011, reason: 'transcript_unfinished' };
const unheld = { code: 1011, reason: 'ledger_unavailable' };
const ending = { code: 1008, reason: 'insufficient_balance' };
const OPENED_MS = new ManualClock().monotonicMs();
const EVENTS: readonly TranscriptionStreamEvent[] = [
  { type: 'budget.low' },
  { type: 'budget.spent', ending },
  { type: 'audio.finished' },
  { type: 'audio.passed' },
  { type: 'drain.requested' },
  { type: 'stream.failed', ending: { code: 1011, reason: 'engine_failed' } },
  { type: 'transcript.progressed' },
  { type: 'transcript.finished' },
  { type: 'socket.closed' },
  { type: 'claim.lost' },
];

const SENT = fc.array(fc.constantFrom(...EVENTS), { maxLength: 10 });

function start(heardAtMs = (): number => OPENED_MS, isOwed = false) {
  const effects: string[] = [];
  const note = (name: string) => () => {
    effects.push(name);
  };
  const clock = new ManualClock();
  const actor = createActor(transcriptionStreamMachine, {
    clock,
    input: {
      quiet: { code: 1000, reason: 'no audio' },
      unheld,
      unfinished,
      effects: {
        extendHold: note('extendHold'),
        passAudio: note('passAudio'),
        finishTranscript: note('finishTranscript'),
        giveUpRest: note('giveUpRest'),
        hangUp: note('hangUp'),
        settle: note('settle'),
        leave: note('leave'),
        isOwed: () => isOwed,
        quietInMs: () => Math.max(0, heardAtMs() + 60_000 - clock.monotonicMs()),
      },
    },
  });
  actor.start();
  return { effects, actor, clock };
}

describe('transcription stream', () => {
  it('a transcription stream settles exactly once, only in `closed`, and hangs up wherever it ends', () => {
    fc.assert(
      fc.property(fc.boolean(), SENT, (isOwed, events) => {
        const { effects, actor } = start(undefined, isOwed);
        for (const event of events) {
          if (actor.getSnapshot().status === 'active') actor.send(event);
        }
        const { value, status } = actor.getSnapshot();
        const count = (name: string) => effects.filter((effect) => effect === name).length;
        expect(count('settle')).toBe(value === 'closed' ? 1 : 0);
        expect(count('leave')).toBe(value === 'lost' ? 1 : 0);
        expect(count('hangUp')).toBe(status === 'done' ? 1 : 0);
      }),
    );
  });

  it('a transcription stream still transcribes the paid audio when the balance has run out', () => {
    const { effects, actor } = start();
    actor.send({ type: 'budget.spent', ending });
    expect(effects).toEqual(['finishTranscript']);
    actor.send({ type: 'transcript.finished' });
    expect(effects).toEqual(['finishTranscript', 'hangUp', 'settle']);
    expect(actor.getSnapshot().context.ending).toEqual(ending);
  });

  it('a transcription stream whose client leaves waits once, up to a limit, for its transcriber’s usage report', () => {
    const finished = [{ type: 'audio.finished' }, { type: 'audio.passed' }] as const;
    for (const before of [[], finished.slice(0, 1), finished]) {
      const { effects, actor, clock } = start(undefined, true);
      for (const event of before) actor.send(event);
      effects.length = 0;
      actor.send({ type: 'socket.closed' });
      actor.send({ type: 'socket.closed' });
      expect(effects).toEqual(['finishTranscript']);
      clock.advance(MACHINE_LIMITS.relay.finishMs - 1);
      expect(actor.getSnapshot().value).toBe('leaving');
      clock.advance(1);
      expect(effects.slice(1)).toEqual(['hangUp', 'settle']);
    }
  });

  it('a transcription stream waits for the last words while they come, and reports a transcriber that stalls', () => {
    const { effects, actor, clock } = start();
    actor.send({ type: 'audio.finished' });
    actor.send({ type: 'audio.passed' });
    for (let times = 0; times < 3; times++) {
      clock.advance(MACHINE_LIMITS.transcription.finishMs - 1);
      actor.send({ type: 'transcript.progressed' });
    }
    expect(effects).toEqual(['passAudio', 'finishTranscript']);
    clock.advance(MACHINE_LIMITS.transcription.finishMs);
    expect(effects.slice(2)).toEqual(['giveUpRest', 'hangUp', 'settle']);
    expect(actor.getSnapshot().context.ending).toEqual(unfinished);
  });

  it('a transcription stream stops waiting for endless words, and keeps the reason of its end', () => {
    const { effects, actor, clock } = start();
    actor.send({ type: 'drain.requested' });
    actor.send({ type: 'audio.passed' });
    for (let ms = 0; ms < MACHINE_LIMITS.transcription.mostMs; ms += 1_000) {
      actor.send({ type: 'transcript.progressed' });
      clock.advance(1_000);
    }
    expect(effects.slice(2)).toEqual(['giveUpRest', 'hangUp', 'settle']);
    expect(actor.getSnapshot().context.ending.code).toBe(1012);
  });

  it.each([
    ['its client', { type: 'audio.finished' }, 'done'],
    ['the server', { type: 'drain.requested' }, 'server is shutting down'],
  ] as const)(
    'a transcription stream that %s ends passes its queued audio on, and buys nothing ahead',
    (_, end, reason) => {
      const { effects, actor, clock } = start();
      actor.send(end);
      actor.send({ type: 'budget.low' });
      actor.send({ type: 'drain.requested' });
      clock.advance(MACHINE_LIMITS.transcription.holdMs - 1);
      expect(effects).toEqual(['passAudio']);
      actor.send({ type: 'audio.passed' });
      expect(effects).toEqual(['passAudio', 'finishTranscript']);
      expect(actor.getSnapshot().context.ending.reason).toBe(reason);
    },
  );

  it('a transcription stream waits for a hold up to a limit, and then gives the missing balance as the reason', () => {
    const { effects, actor, clock } = start();
    actor.send({ type: 'audio.finished' });
    clock.advance(MACHINE_LIMITS.transcription.holdMs);
    expect(effects).toEqual(['passAudio', 'finishTranscript']);
    actor.send({ type: 'transcript.finished' });
    expect(actor.getSnapshot().context.ending).toEqual(unheld);
  });

  it('a transcription stream ends after a minute without audio, counted from the last audio', () => {
    const silent = start();
    silent.clock.advance(59_999);
    expect(silent.effects).toEqual([]);
    silent.clock.advance(1);
    expect(silent.effects).toEqual(['passAudio']);
    const heard = start(() => OPENED_MS + 30_000);
    heard.clock.advance(89_999);
    expect(heard.actor.getSnapshot().value).toBe('streaming');
    heard.clock.advance(1);
    expect(heard.effects).toEqual(['passAudio']);
  });
});
