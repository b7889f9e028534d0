import { expect, it } from 'vitest';
import { createSeededRandom } from '../../../../../src/kernel/random.ts';
import { openLiveCall } from '../../../../../src/phone/calls/recorded/open-live-call.ts';
import { replayTape } from '../../../../../src/protocols/replay-tape.ts';
import { describeReplay } from '../../../../../src/voice/recording/describe-replay.ts';
import { readTape, type Tape } from '../../../../../src/voice/recording/tape.ts';
import { phoneCall } from '../../../../support/phone-line.ts';
import { type MemoryTapes, memoryTapes } from '../../../../support/tapes.ts';
import { tone } from '../../../../support/voice-fakes.ts';
import { settleAll } from '../../../../support/voice-world.ts';

const GATHER = { maxDigits: 16, finishOnKey: '#', timeoutMs: 10_000, isSensitive: true };
const COUNT = 'One two three four. Five six seven eight.';

/** A call with a greeting, a turn, an interruption, keys, a secret, a sound, a lost stream and an end with last words. */
async function recorded(
  options: { readonly secret?: string; readonly tapes?: MemoryTapes | undefined } = {},
) {
  const { secret = '4929' } = options;
  const tapes = 'tapes' in options ? options.tapes : memoryTapes();
  const digits: string[] = [];
  const entered: string[] = [];
  const gathered: string[] = [];
  const random = createSeededRandom(new Uint8Array(32));
  const spoken: number[] = [];
  const world = await phoneCall({
    beginMessage: 'Hello there.',
    deps: { tapes, random },
    open: openLiveCall,
    change: { spoke: (characters) => spoken.push(characters) },
    events: {
      digit: (digit) => digits.push(digit),
      entered: (keys) => entered.push(keys),
    },
  });
  const { answers, call, callee, connection, engines, passes, says } = world;
  const press = async (keys: string) => {
    for (const digit of keys) call.media({ kind: 'digit', digit });
    await passes(200);
  };
  await passes(600);
  answers('Fine thanks.');
  await says('how are you');
  await passes(600);
  answers(`${COUNT} ${COUNT}`);
  await says('count');
  engines.stt.pocketsphinx.script.push('stop it now');
  callee.speak(700);
  await passes(2_000);
  await press('12#');
  call.actions.gather(GATHER, () => gathered.push('over'));
  await press(`${secret}#`);
  call.actions.sounds.play(async () => ({ sampleRateHz: 8_000, blocks: [tone(300, 8_000)] }));
  const problem = call.actions.configure({ transcriptionLanguage: 'es' });
  await passes(800);
  call.detached();
  await passes(200);
  call.attach(connection);
  call.note('a note');
  call.respond();
  await passes(400);
  call.end('max_duration');
  await passes(4_000);
  await call.settled;
  await settleAll();
  const bytes = () => tapes?.bytes() ?? Buffer.alloc(0);
  const tape = () => readTape(bytes());
  return { ...world, bytes, digits, entered, gathered, problem: await problem, spoken, tape };
}

type Recorded = Awaited<ReturnType<typeof recorded>>;

const isDigit = ([kind, , , args]: Tape['arrivals'][number]) =>
  kind === 'in' && JSON.stringify(args).includes('"digit"');

it('a recorded call behaves the same as an unrecorded call', async () => {
  const course = ({ digits, entered, gathered, interruptions, over, ...world }: Recorded) => {
    const { problem, spoken, turns } = world;
    return { digits, entered, gathered, interruptions, over, problem, spoken, turns };
  };
  const whole = course(await recorded());
  expect(whole).toEqual(course(await recorded({ tapes: undefined })));
  expect(whole).toMatchObject({ gathered: ['over'], over: ['max_duration'] });
  expect(whole.interruptions).toContain('One two three four. Five');
  expect(whole.problem?.message).toContain('English');
  expect(whole.spoken).toHaveLength(1);
});

it('a recorded call is replayed to the same messages and events, however often', async () => {
  const tape = (await recorded()).tape();
  const paths = new Set(tape.sent.map(([, path]) => path));
  for (const name of ['said', 'interrupted', 'digit', 'entered', 'attached', 'detached', 'over']) {
    expect(paths).toContain(`events.${name}`);
  }
  expect(tape.sent.filter(([, path]) => path === 'client.send').length).toBeGreaterThan(50);
  for (let n = 0; n < 2; n++) {
    expect(await replayTape(tape)).toEqual({ frames: tape.sent.length, difference: undefined });
  }
  expect(describeReplay(tape, await replayTape(tape))).toMatch(/^call session .*all as recorded$/);
});

it('the replay of a call reports a changed message, event or arrival in its recording', async () => {
  const tape = (await recorded()).tape();
  for (const changed of ['client.send', 'events.said']) {
    const at = tape.sent.findIndex(([, path]) => path === changed);
    const sent = tape.sent.map((one, i) =>
      i === at ? (['out', changed, ['other']] as const) : one,
    );
    expect(await replayTape({ ...tape, sent })).toMatchObject({
      frames: at,
      difference: { kind: 'frame', frame: at + 1 },
    });
  }
  const pressed = tape.arrivals.findIndex(isDigit);
  const arrivals = tape.arrivals.filter((_, i) => i !== pressed);
  expect((await replayTape({ ...tape, arrivals })).difference).toBeDefined();
});

it('the recording of a call is the same whatever its sensitive digits are, which only the responder gets', async () => {
  const first = await recorded({ secret: '4929' });
  const second = await recorded({ secret: '1377' });
  expect(first.entered).toEqual(['4929']);
  expect(first.digits.join('')).toBe('12#4929#');
  expect(second.entered).toEqual(['1377']);
  expect(first.bytes().equals(second.bytes())).toBe(true);
  const keys = first.tape().arrivals.filter(isDigit);
  expect(
    JSON.stringify(keys)
      .match(/(?<="digit":")./g)
      ?.join(''),
  ).toBe('12#0000#');
});

it('the recording of a call masks keys that follow a complete sensitive entry, too', async () => {
  const tapes = memoryTapes();
  const { call, passes } = await phoneCall({ deps: { tapes }, open: openLiveCall });
  call.actions.gather({ ...GATHER, maxDigits: 4 }, () => {});
  for (const keys of ['4929', '73']) {
    for (const digit of keys) call.media({ kind: 'digit', digit });
    await passes(200);
  }
  call.end('max_duration');
  await passes(4_000);
  await call.settled;
  await settleAll();
  const tape = tapes.tape();
  const written = [...tape.arrivals.filter(isDigit), ...tape.sent];
  expect(JSON.stringify(written)).not.toMatch(/"digit":"[^0]"|"7"|"3"/);
  expect(tape.arrivals.filter(isDigit)).toHaveLength(6);
});

it('a call goes on when its recording is full, which then replays as far as it goes', async () => {
  const { over, tape: read } = await recorded({ tapes: memoryTapes(100_000) });
  expect(over).toEqual(['max_duration']);
  const tape = read();
  expect(tape.isFull).toBe(true);
  expect(await replayTape(tape)).toEqual({ frames: tape.sent.length, difference: undefined });
});

it('the recording of a call keeps the audio of a message whose buffer is overwritten by the next one', async () => {
  const tapes = memoryTapes();
  const { call, passes } = await phoneCall({ deps: { tapes }, open: openLiveCall });
  const bytes = new Uint8Array(160).fill(7);
  const event = { kind: 'media', atMs: 20, bytes } as const;
  call.media(event);
  bytes.fill(9);
  call.end('max_duration');
  await passes(4_000);
  const sounds = tapes.tape().arrivals.filter((arrival) => arrival[0] === 'in');
  const [, , , args] = sounds.find(([, , , [path]]) => path === 'media') ?? [];
  expect(args).toEqual(['media', [{ ...event, bytes: new Uint8Array(160).fill(7) }]]);
});

it('a recorded call sends media in the format of the carrier of its stream', async () => {
  const sent: string[] = [];
  const { call, passes } = await phoneCall({ deps: { tapes: memoryTapes() }, open: openLiveCall });
  const send = (data: string) => sent.push(data) > 0;
  const codec = {
    read: () => ({ kind: 'ignored' }) as const,
    media: (bytes: Uint8Array) => `media ${bytes.length}`,
    mark: (name: string) => `mark ${name}`,
    clear: () => 'clear',
  };
  call.attach({ send, batch: (work) => work(), close: () => sent.push('close') }, codec);
  call.say(`${COUNT} ${COUNT}`);
  await passes(600);
  call.actions.mute();
  await passes(40);
  call.line.close(1000, 'over');
  await passes(40);
  const words = new Set(sent.map((data) => data.split(' ')[0]));
  expect([...words]).toEqual(['media', 'mark', 'clear', 'close']);
});

it('the recording of a call ends with a process that stops, though the callee has not heard all', async () => {
  const tapes = memoryTapes();
  const { call, over, passes } = await phoneCall({
    beginMessage: COUNT,
    deps: { tapes },
    open: openLiveCall,
  });
  await passes(200);
  call.abandon();
  await call.settled;
  await settleAll();
  expect(over).toEqual([]);
  const tape = tapes.tape();
  expect(await replayTape(tape)).toEqual({ frames: tape.sent.length, difference: undefined });
});
