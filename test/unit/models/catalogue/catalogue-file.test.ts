import { describe, expect, it } from 'vitest';
import { parseCatalogueFile } from '../../../../src/models/catalogue/catalogue-file.ts';

const BUILTIN = new Set(['local', 'openai']);

const source = {
  rail: 'self-host',
  provider: 'local',
  upstreamModel: 'x',
  rates: { request: '1' },
};
const model = { id: 'a/b', modality: 'text', sources: [source] };
const provider = { baseUrl: 'https://api.example/v1', dialect: 'openai' };

const parse = (file: unknown) => () => parseCatalogueFile(JSON.stringify(file), BUILTIN);

describe('a catalogue file', () => {
  it('an invalid catalogue file is refused with the place of the mistake', () => {
    const cases: [file: unknown, place: RegExp][] = [
      [{ models: [{ ...model, modality: 'smell' }] }, /^models\[0\]\.modality: /],
      [
        { models: [model, { ...model, id: 'bare' }] },
        /^models\[1\]\.id: must read <maker>\/<name>/,
      ],
      [
        { models: [{ ...model, sources: [{ ...source, rates: { request: '1,5' } }] }] },
        /^models\[0\]\.sources\[0\]\.rates\.request: must be USD per million/,
      ],
      [
        { models: [{ ...model, sources: [{ ...source, rates: { per_word: '1' } }] }] },
        /^models\[0\]\.sources\[0\]\.rates/,
      ],
      [
        { models: [{ ...model, sources: [{ ...source, margin: 5 }] }] },
        /^models\[0\]\.sources\[0\]: .*margin/,
      ],
      [
        { models: [{ ...model, sources: [{ ...source, provider: 'nobody' }] }] },
        /^models\[0\]\.sources\[0\]\.provider: there is no provider "nobody"/,
      ],
      [
        {
          models: [{ ...model, sources: [{ ...source, rail: 'x402-router', provider: 'openai' }] }],
        },
        /^models\[0\]\.sources\[0\]\.provider: a router speaks the openai dialect and has no apiKeyEnv/,
      ],
      [{ providers: { acme: { ...provider, thoughts: true } } }, /^providers\.acme\.thoughts: /],
      [
        { providers: { acme: { ...provider, chatMembers: ['user', 'tools'] } } },
        /^providers\.acme\.chatMembers\[1\]: /,
      ],
      [
        { models: [{ ...model, sources: [{ ...source, thinkingSwitch: 'off' }] }] },
        /^models\[0\]\.sources\[0\]\.thinkingSwitch: /,
      ],
      [{ models: [{ ...model, sources: [] }] }, /^models\[0\]\.sources: /],
      [{ models: [model, model] }, /^models\[1\]\.id: "a\/b" stands here twice/],
      [{ providers: { acme: { ...provider, baseUrl: 'ftp://x' } } }, /^providers\.acme\.baseUrl: /],
      [{ providers: { acme: { ...provider, apiKeyEnv: 'A B' } } }, /^providers\.acme\.apiKeyEnv: /],
      [{ providers: { local: provider } }, /^providers\.local: /],
      [{ modles: [] }, /modles/],
      [[], /^top level: /],
    ];
    for (const [file, place] of cases) expect(parse(file)).toThrow(place);
    expect(() => parseCatalogueFile('{"models": [', BUILTIN)).toThrow(/^not JSON/);
  });

  it('a catalogue file may state a model’s shutdown date, successor, limits and price origin', () => {
    const price = { source: 'acme.example/prices', readOn: '2026-11-24', certainty: 'list' };
    const longPrompt = { above: 200_000, inputPercent: 200, outputPercent: 150 };
    const source = { ...model.sources[0], price, longPrompt, cacheWritePercent: 25 };
    const told = {
      contextWindow: 400_000,
      maxOutputTokens: 128_000,
      shutdownDate: '2027-01-14',
      successor: 'acme/next',
    };
    const next = { ...model, id: 'acme/next' };
    const { models } = parse({ models: [{ ...model, ...told, sources: [source] }, next] })();
    expect(models[0]).toMatchObject({ ...told, sources: [source] });

    const cases: [more: object, place: RegExp][] = [
      [{ shutdownDate: '2027-02-30' }, /^models\[0\]\.shutdownDate: must be a day such as/],
      [{ shutdownDate: 'soon' }, /^models\[0\]\.shutdownDate: /],
      [{ successor: 'acme/gone' }, /^models\[0\]\.successor: there is no model "acme\/gone"/],
      [
        { sources: [{ ...source, price: { ...price, certainty: 'sure' } }] },
        /^models\[0\]\.sources\[0\]\.price\.certainty: /,
      ],
    ];
    for (const [more, place] of cases) {
      expect(parse({ models: [{ ...model, ...more }] }), String(place)).toThrow(place);
    }
  });

  it('a catalogue file may state which call ids, message order and sampling a vendor accepts', () => {
    const habits = { callIds: 'nine', strictOrder: true };
    const file = parse({
      providers: { up: { ...provider, ...habits } },
      models: [{ ...model, sources: [{ ...source, sampling: 'neither' }] }],
    })();
    expect(file.providers.up).toMatchObject(habits);
    expect(file.models[0]?.sources).toMatchObject([{ sampling: 'neither' }]);
    expect(parse({ providers: { up: { ...provider, callIds: 'ten' } } })).toThrow(
      /^providers\.up\.callIds: /,
    );
  });

  it('a catalogue file may define a provider as a further address of a vendor', () => {
    const eu = { baseUrl: 'https://eu.acme.example/v1', apiKeyEnv: 'ACME', dialect: 'openai' };
    const [known = ''] = BUILTIN;
    const { providers } = parse({ providers: { eu: { ...eu, vendor: known } } })();
    expect(providers.eu).toMatchObject({ vendor: known });
    expect(parse({ providers: { eu: { ...eu, vendor: 'none' } } })).toThrow(
      /^providers\.eu\.vendor: there is no provider "none"/,
    );
  });

  it('a catalogue file may define a realtime model as a cascade, and an unknown part is refused by its place', () => {
    const known = new Map([
      ['local/pocketsphinx', { modality: 'stt' }],
      ['local/flite', { modality: 'tts' }],
    ] as const);
    const made = { id: 'a/talker', modality: 'realtime', cascade: { llm: 'a/b' } };
    const read = (file: unknown) => parseCatalogueFile(JSON.stringify(file), BUILTIN, known);
    expect(read({ models: [made, model] }).models[0]).toMatchObject({
      cascade: { stt: 'local/pocketsphinx', llm: 'a/b', tts: 'local/flite' },
      sources: [],
    });
    const cases: [change: object, place: RegExp][] = [
      [
        { cascade: { llm: 'a/none' } },
        /^models\[0\]\.cascade\.llm: there is no text model "a\/none"/,
      ],
      [
        { cascade: { llm: 'a/b', tts: 'a/b' } },
        /^models\[0\]\.cascade\.tts: there is no tts model/,
      ],
      [{ cascade: { llm: 'bare' } }, /^models\[0\]\.cascade\.llm: must read/],
      [{ cascade: {} }, /^models\[0\]\.cascade\.llm: /],
      [{ modality: 'text' }, /^models\[0\]\.cascade: is for models of modality realtime/],
      [{ sources: [source] }, /^models\[0\]\.sources: a cascade has none/],
    ];
    for (const [change, place] of cases) {
      expect(() => read({ models: [{ ...made, ...change }, model] })).toThrow(place);
    }
  });

  it('a catalogue file is refused when a source lacks a rate for a billed unit', () => {
    const at = (more: object) => ({ models: [{ ...model, sources: [{ ...source, ...more }] }] });
    expect(parse(at({ rates: {} }))).toThrow(
      'models[0].sources[0].rates: a text model also bills text_input_token, text_output_token',
    );
    const twice = { ...model, sources: [source, { ...source, rates: { text_input_token: '1' } }] };
    expect(parse({ models: [{ ...model, id: 'a/c' }, twice] })).toThrow(
      'models[1].sources[1].rates: a text model also bills text_output_token',
    );
    const voice = { ...model, modality: 'tts' };
    expect(parse({ models: [voice] })).not.toThrow();
    expect(parse({ models: [{ ...voice, sources: twice.sources }] })).toThrow(
      /sources\[1\]\.rates/,
    );
    expect(parse(at({ rail: 'free' }))).toThrow(/rates: must be empty or zero/);
    expect(parse(at({ rail: 'free', rates: {} }))).not.toThrow();
    expect(parse(at({ rail: 'free', rates: { request: '0' } }))).not.toThrow();
  });

  it('a catalogue file may give a model a display name and mark its weights as open', () => {
    const named = { ...model, displayName: 'A b', isOpenWeight: true };
    expect(parse({ models: [named] })().models[0]).toMatchObject(named);
    expect(parse({ models: [{ ...named, isOpenWeight: 'yes' }] })).toThrow(/isOpenWeight: /);
    expect(parse({ models: [{ ...named, displayName: '' }] })).toThrow(/displayName: /);
  });

  it('a catalogue file may leave out its providers and its models', () => {
    expect(parse({})()).toEqual({ providers: {}, models: [] });
  });
});
