import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { StopSignal } from '../../../../src/kernel/stop-signal.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import type { ChatCall, ChatRail } from '../../../../src/models/providers/chat-rail.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { MAIN_HOLD } from '../../../../src/voice/billing/session-holds.ts';
import { createCatalogueLlm } from '../../../../src/voice/cascade/catalogue-llm.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import type { ConversationItem } from '../../../../src/voice/session/conversation.ts';
import { DEFAULT_CONFIG } from '../../../../src/voice/session/session-config.ts';
import {
  type Llm,
  type LlmPiece,
  StageFailed,
} from '../../../../src/voice/session/voice-pipeline.ts';
import { chargesOn } from '../../../support/charges-on.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { textEvent } from '../../../support/stream-upstream.ts';
import { settleAll } from '../../../support/voice-world.ts';

const source: Source = {
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  marginBps: 0,
  rates: { text_input_token: 1_000_000n, text_output_token: 1_000_000n },
};
const model: Model = {
  id: 'a/b',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [source],
};

/** Of a whole turn. */
const RESERVE_RAW = 2_000_000n;

/** An LLM at a rail in memory that answers `hello` and reports no usage. */
function openLlm({
  reservedRaw = 1_000_000n,
  rail: kind = 'direct-account' as Source['rail'],
  afford = async (_totalRaw: bigint, _isQuiet: boolean) => {},
  ends = Promise.resolve(),
} = {}) {
  const asked: { call: ChatCall; signal: StopSignal }[] = [];
  const afforded: bigint[] = [];
  const rail: ChatRail = {
    complete: async () => ({ kind: 'aborted' }),
    async stream(call, signal) {
      asked.push({ call, signal });
      const events = [Buffer.from(textEvent('hello'))];
      const next = async () => {
        const event = events.shift();
        if (event === undefined) await ends;
        return event;
      };
      const metered = () => ({ usage: null, answerChars: 8 });
      return { kind: 'completed', status: 200, stream: { next, metered, stop() {} } };
    },
  };
  const clock = new ManualClock();
  const charges = chargesOn(async (totalRaw, isQuiet) => {
    afforded.push(totalRaw);
    await afford(totalRaw, isQuiet);
  });
  const llm = createCatalogueLlm({
    asking: {
      clock,
      log: silentLog,
      breaker: createSourceRests({ clock }),
      random: systemRandom,
      spender: { agentId: 7 },
      chargesOn: () => charges,
    },
    part: bindModel({
      model: { ...model, sources: [{ ...source, rail: kind }] },
      rails: { railOf: () => rail },
      ownKeys: NO_OWN_KEYS,
      holdNameOf: () => MAIN_HOLD,
    }),
    reserved: () => ({ sessionHold: MAIN_HOLD, raw: reservedRaw }),
    reserves: () => ({ [MAIN_HOLD]: RESERVE_RAW }),
    sessionHolds: { heldRaw: 0n, spentRaw: 0n },
  });
  return { llm, asked, afforded, tab: charges.tab };
}

const said = (text: string): ConversationItem => ({
  id: 'i',
  status: 'completed',
  type: 'message',
  role: 'user',
  content: [{ type: 'text', text }],
});

const request = (text: string) => ({
  config: DEFAULT_CONFIG,
  items: text === '' ? [] : [said(text)],
  outputCap: 10,
  signal: new AbortController().signal,
});

async function textOf(llm: Llm, text: string): Promise<string> {
  const reply = llm.reply(request(text));
  const pieces: LlmPiece[] = [];
  for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) {
    pieces.push(piece);
  }
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

describe('a bought LLM', () => {
  it('a catalogue LLM uses its speculative answer when the request is the same, and requests and bills that answer once', async () => {
    const { llm, asked, tab } = openLlm();
    llm.speculate?.(request('one'));
    await settleAll();
    expect(await textOf(llm, 'one')).toBe('hello');
    expect(asked).toHaveLength(1);
    const bought = tab.take();
    expect(bought).toHaveLength(1);
    expect(bought[0]?.isSpeculated).toBeUndefined();
  });

  it('a catalogue LLM drops its speculative answer when the request differs, and marks its cost', async () => {
    const { llm, asked, tab } = openLlm();
    llm.speculate?.(request('one'));
    await settleAll();
    expect(await textOf(llm, 'two')).toBe('hello');
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(tab.take().map(({ isSpeculated = false }) => isSpeculated)).toEqual([true, false]);
  });

  it('a catalogue LLM begins at most one speculative answer a turn', async () => {
    const { llm, asked } = openLlm();
    llm.speculate?.(request('one'));
    llm.forgetSpeculation?.();
    llm.speculate?.(request('two'));
    await settleAll();
    expect(asked.length).toBeLessThanOrEqual(1);
    await textOf(llm, 'two');
    llm.speculate?.(request('three'));
    await settleAll();
    expect(asked.at(-1)?.call.body.messages).toEqual([{ role: 'user', content: 'three' }]);
  });

  it('a catalogue LLM holds a speculative answer in full beside the reserve, and of any other answer only the excess', async () => {
    const early = openLlm();
    early.llm.speculate?.(request('12345678'));
    await settleAll();
    // A token a byte, eight for the message, ten to answer with.
    expect(early.afforded).toEqual([RESERVE_RAW + 8n + 8n + 10n]);
    const small = openLlm({ reservedRaw: 20n });
    await textOf(small.llm, '12345678');
    expect(small.afforded).toEqual([RESERVE_RAW + 6n]);
    const plenty = openLlm();
    await textOf(plenty.llm, '12345678');
    expect(plenty.afforded).toEqual([26n]);
  });

  it('a catalogue LLM counts an answer in progress at its upper bound, and a billed answer not at all', async () => {
    let end = () => {};
    const ends = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { llm, tab } = openLlm({ ends });
    const reply = llm.reply(request('12345678'));
    await settleAll();
    expect(tab.unbilledRaw()).toBe(26n);
    end();
    while ((await reply.next()) !== undefined);
    const costRaw = tab.unbilledRaw();
    expect(costRaw).toBeGreaterThan(0n);
    expect(costRaw).toBeLessThan(26n);
    tab.take();
    expect(tab.unbilledRaw()).toBe(0n);
  });

  it('a catalogue LLM holds nothing for a dropped speculative answer once that is billed', async () => {
    const { llm, afforded, tab } = openLlm({ reservedRaw: 20n });
    llm.speculate?.(request('s'.repeat(1_000)));
    await settleAll();
    llm.forgetSpeculation?.();
    for (let turn = 0; turn < 2; turn++) {
      tab.take();
      await textOf(llm, '12345678');
    }
    expect(afforded.slice(1)).toEqual([RESERVE_RAW + 6n, RESERVE_RAW + 6n]);
  });

  it('a catalogue LLM does not fail an answer within its reserve when a speculative answer is refused', async () => {
    let decide = () => {};
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const { llm, asked } = openLlm({
      async afford(totalRaw) {
        if (totalRaw <= RESERVE_RAW) return;
        await decided;
        throw new StageFailed('budget_exhausted', 'no');
      },
    });
    llm.speculate?.(request('one'));
    await settleAll();
    const text = textOf(llm, 'one');
    decide();
    expect(await text).toBe('hello');
    expect(asked).toHaveLength(1);
  });

  it('a hold for a speculative answer suspends no agent, and a failed one is made anew when the answer is requested', async () => {
    const quiet: boolean[] = [];
    const { llm, asked } = openLlm({
      async afford(_, isQuiet) {
        quiet.push(isQuiet);
        if (isQuiet && quiet.length > 1) throw new StageFailed('not_begun', 'no');
      },
    });
    llm.speculate?.(request('one'));
    await settleAll();
    expect(await textOf(llm, 'one')).toBe('hello');
    expect(quiet).toEqual([true]);
    llm.speculate?.(request('two'));
    await settleAll();
    expect(asked).toHaveLength(1);
    expect(await textOf(llm, 'two')).toBe('hello');
    expect([quiet, asked.length]).toEqual([[true, true, false], 2]);
  });

  it('a catalogue LLM pays no source per call for an answer before that is requested', async () => {
    const { llm, asked, afforded } = openLlm({ rail: 'x402-router' });
    llm.speculate?.(request('one'));
    await settleAll();
    expect([asked, afforded]).toEqual([[], []]);
    expect(await textOf(llm, 'one')).toBe('hello');
    expect(asked).toHaveLength(1);
  });

  it('a catalogue LLM fails an answer that cannot be paid, and calls no source', async () => {
    const afford = () => Promise.reject(new StageFailed('budget_exhausted', 'no'));
    const { llm, asked, tab } = openLlm({ afford });
    await expect(textOf(llm, 'one')).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect([asked, tab.take(), tab.unbilledRaw()]).toEqual([[], [], 0n]);
  });

  it('a catalogue LLM calls no source when there is nothing to answer', async () => {
    const { llm, asked } = openLlm();
    await expect(textOf(llm, '')).rejects.toMatchObject({ code: 'nothing_to_answer' });
    expect(asked).toEqual([]);
  });
});
