import { describe, expect, it } from 'vitest';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { ChatRequest } from '../../../../src/models/chat/chat-request.ts';
import { PromptBeginnings } from '../../../../src/models/chat/prompt-beginnings.ts';
import { planPromptCaching } from '../../../../src/models/chat/prompt-caching.ts';
import { PromptHolders } from '../../../../src/models/chat/prompt-holders.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import type { ModelSources } from '../../../../src/models/routing/keyed-sources.ts';
import type { Offer, Offers } from '../../../../src/models/routing/plan-offers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';

const { heldMs, holders: most, leastTokens } = MODEL_LIMITS.chat.promptCache;
const LONG = 'x'.repeat(leastTokens * MODEL_LIMITS.tokens.charsEach);

const sourceOf = (provider: string, input: bigint, cached?: bigint): Source => ({
  rail: 'direct-account',
  provider,
  upstreamModel: 'm',
  marginBps: 0,
  rates: {
    text_input_token: input,
    text_output_token: 10_000_000n,
    ...(cached !== undefined && { cached_input_token: cached }),
  },
});
const CHEAP = sourceOf('cheap', 2_000_000n, 200_000n);
const DEAR = sourceOf('dear', 4_000_000n, 400_000n);

const offersOf = (...sources: (Source | readonly [Source, number])[]) =>
  sources.map((entry) => {
    const [source, rank] = 'rail' in entry ? [entry, 0] : entry;
    return { source, rank } as Offer<string>;
  }) as unknown as Offers<string>;

const request = (more: object = {}): ChatRequest =>
  ChatRequest.parse({
    model: 'a/b',
    messages: [
      { role: 'system', content: LONG },
      { role: 'user', content: 'Good morning?' },
    ],
    ...more,
  });
const beginnings = (more: object = {}, account = 'acct_1', model = 'a/b') =>
  new PromptBeginnings(request(more)).of(account, model);

const USED = { inputTokens: 10_000, cachedTokens: 0, outputTokens: 100 };

function holdersAt() {
  const clock = new ManualClock();
  const holders = new PromptHolders({ clock });
  const asked = (wanted = beginnings(), offers = offersOf(CHEAP, DEAR)) =>
    holders.preferHolder(offers, wanted).map(({ source }) => source.provider);
  return { clock, holders, asked };
}

describe('the source that holds a prompt', () => {
  it('the source that cached a prompt comes first until the cache expires, counted from its last use', () => {
    const { asked, clock, holders } = holdersAt();
    expect(asked()).toEqual(['cheap', 'dear']);
    holders.remember(beginnings(), DEAR, USED);
    clock.advance(heldMs - 1);
    expect(asked()).toEqual(['dear', 'cheap']);
    holders.remember(beginnings(), DEAR, USED);
    clock.advance(heldMs - 1);
    expect(asked()).toEqual(['dear', 'cheap']);
    clock.advance(1);
    expect(asked()).toEqual(['cheap', 'dear']);
  });

  it('the source that cached a prompt does not come first when another source is cheaper even so', () => {
    const { asked, holders } = holdersAt();
    const far = sourceOf('far', 50_000_000n, 5_000_000n);
    holders.remember(beginnings(), far, USED);
    expect(asked(beginnings(), offersOf(CHEAP, far))).toEqual(['cheap', 'far']);
  });

  it('the source that cached a prompt comes first only among sources of the same preference rank', () => {
    const { asked, holders } = holdersAt();
    holders.remember(beginnings(), DEAR, USED);
    expect(asked(beginnings(), offersOf([CHEAP, 0], [DEAR, 1]))).toEqual(['cheap', 'dear']);
    const third = sourceOf('third', 3_000_000n, 300_000n);
    const ranked = offersOf([CHEAP, 0], [third, 1], [DEAR, 1]);
    expect(asked(beginnings(), ranked)).toEqual(['cheap', 'dear', 'third']);
  });

  it('the source that cached a prompt is preferred only for the same account, model and prompt', () => {
    const { asked, holders } = holdersAt();
    holders.remember(beginnings(), DEAR, USED);
    for (const other of [
      beginnings({}, 'acct_2'),
      beginnings({}, 'acct_1', 'a/c'),
      beginnings({ messages: [{ role: 'system', content: `${LONG}!` }] }),
      beginnings({ tools: [{ type: 'function' }] }),
    ]) {
      expect(asked(other)).toEqual(['cheap', 'dear']);
    }
  });

  it('the source that cached a prompt is preferred for later turns and for other chats with the same instructions', () => {
    const { asked, holders } = holdersAt();
    // Nearly all of it are the instructions.
    holders.remember(beginnings(), DEAR, { ...USED, inputTokens: leastTokens + 76 });
    const { messages } = request();
    const later = [
      ...messages,
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: '?' },
    ];
    expect(asked(beginnings({ messages: later }))).toEqual(['dear', 'cheap']);
    const other = [messages[0], { role: 'user', content: 'Good night?' }];
    expect(asked(beginnings({ messages: other }))).toEqual(['dear', 'cheap']);
  });

  it('the source that cached a conversation is preferred over the source that cached its instructions', () => {
    const { asked, holders } = holdersAt();
    const other = { messages: [request().messages[0], { role: 'user', content: 'Good night?' }] };
    holders.remember(beginnings(), DEAR, USED);
    holders.remember(beginnings(other), CHEAP, USED);
    expect(asked()).toEqual(['dear', 'cheap']);
  });

  it('the source that cached a prompt is found by the caller’s prompt_cache_key', () => {
    const { asked, holders } = holdersAt();
    const named = (content: string) =>
      beginnings({ prompt_cache_key: 'k', messages: [{ role: 'user', content }] });
    holders.remember(named('a'), DEAR, USED);
    expect(asked(named('b'))).toEqual(['dear', 'cheap']);
    expect(
      asked(beginnings({ prompt_cache_key: 'l', messages: [{ role: 'user', content: 'a' }] })),
    ).toEqual(['cheap', 'dear']);
  });

  it('no source is remembered for a prompt or instructions too short to cache', () => {
    const short = {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a' },
      ],
    };
    expect(beginnings(short)).toHaveLength(1);
    const { asked, holders } = holdersAt();
    holders.remember(beginnings(), DEAR, { ...USED, inputTokens: leastTokens - 1 });
    expect(asked()).toEqual(['cheap', 'dear']);
  });

  it('no source is remembered for a cache without a discount or on the x402 rail', () => {
    const { asked, holders } = holdersAt();
    const plain = sourceOf('dear', 2_000_000n);
    const routed: Source = { ...DEAR, rail: 'x402-router' };
    for (const source of [plain, routed]) {
      holders.remember(beginnings(), source, USED);
      expect(asked(beginnings(), offersOf(CHEAP, source))).toEqual(['cheap', 'dear']);
    }
  });

  it('the source that cached a prompt is forgotten when other prompts fill the memory', () => {
    const { asked, holders } = holdersAt();
    holders.remember(beginnings(), DEAR, USED);
    expect(asked(beginnings(), offersOf(CHEAP))).toEqual(['cheap']);
    for (let i = 0; i < most; i++) {
      holders.remember([{ key: `k${i}`, tokens: undefined }], CHEAP, USED);
    }
    expect(asked()).toEqual(['cheap', 'dear']);
  });

  it('finding the source that cached a prompt takes under 50 ms for a prompt of eight megabytes', () => {
    const huge = 'y'.repeat(8 * 1024 * 1024);
    const messages = [{ role: 'user', content: huge }];
    const tools = Array.from({ length: 100 }, () => ({ description: 'z'.repeat(10_000) }));
    const took = () => {
      const startedMs = threadCpuMs();
      beginnings({ messages, tools });
      return threadCpuMs() - startedMs;
    };
    expect(Math.min(took(), took(), took())).toBeLessThan(50);
  });

  it('finding the source that cached a prompt takes under 10 ms for nine models and only empty values', () => {
    for (const empty of ['', [], {}, { '': '' }]) {
      const many = Array.from({ length: 33_000 }, () => empty);
      const messages = ['system', 'user'].map((role) => ({ role, content: many }));
      const prompt = { messages, tools: many } as unknown as ChatRequest;
      const took = () => {
        const begun = process.cpuUsage();
        const read = new PromptBeginnings(prompt);
        for (let i = 0; i < 9; i++) read.of('acct_1', `a/${i}`);
        return process.cpuUsage(begun).user / 1_000;
      };
      expect(Math.min(took(), took(), took())).toBeLessThan(10);
    }
  });

  it('the prompt is read once for all models, when offers are ordered or a response is recorded', () => {
    let reads = 0;
    const { messages } = request();
    const beginnings = new PromptBeginnings({
      get messages() {
        reads += 1;
        return messages;
      },
    });
    const { holders } = holdersAt();
    const sources = [CHEAP, DEAR].map((source) => ({ source }));
    const cachings = ['a/b', 'a/c'].map((id) => {
      const of = { model: { id }, sources } as unknown as ModelSources;
      return planPromptCaching(
        holders,
        of,
        { accountId: 'acct_1', promptCaching: 'off' },
        beginnings,
        () => false,
      );
    });
    expect(reads).toBe(0);
    cachings[0]?.note(USED, DEAR);
    const asked = cachings.map((caching) => caching.preferHolder(offersOf(CHEAP, DEAR))[0].source);
    expect(asked).toEqual([DEAR, CHEAP]);
    expect(reads).toBe(1);
  });
});
