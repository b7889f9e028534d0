import { describe, expect, it } from 'vitest';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../src/models/catalogue/builtin/providers.ts';
import { listenOptions, spokenModel } from '../../../../src/models/transcription/listen-options.ts';

const ASKED = Object.entries({ interim_results: 'true', endpointing: 'false', tag: 'mine' });

describe('what is asked of an upstream that transcribes live', () => {
  it('live transcription on the operator’s account passes on only options included in the price per second', () => {
    const searched: [string, string][] = [...'ab'].map((word) => ['search', word]);
    const asked = [...ASKED, ...searched, ...Object.entries({ diarize: 'false', made_up: '1' })];
    expect(listenOptions(asked, false)).toEqual({
      kind: 'fit',
      options: [['interim_results', 'true'], ['endpointing', 'false'], ...searched],
    });
  });

  it.each(['diarize', 'keyterm', 'mip_opt_out', 'detect_entities'])(
    'live transcription on the operator’s account refuses the option %s, which the upstream bills apart',
    (name) => {
      expect(listenOptions([...ASKED, [name, 'true']], false)).toMatchObject({
        kind: 'unfit',
        param: name,
      });
    },
  );

  it('live transcription with the caller’s own key passes on every option', () => {
    const asked = [...ASKED, ...Object.entries({ keyterm: 'svc', kind: 'unfit' })];
    expect(listenOptions(asked, true)).toEqual({ kind: 'fit', options: asked });
  });
});

describe('the model that several languages at once are priced as', () => {
  const catalogue = buildCatalogue({
    providers: new Map(Object.entries(BUILTIN_PROVIDERS)),
    models: BUILTIN_MODELS,
    secret: (name) => (name === 'DEEPGRAM_API_KEY' ? 'key' : undefined),
  });
  it.each([
    ['deepgram/nova-3', 'multi', 'deepgram/nova-3-multilingual', 'multi'],
    ['deepgram/nova-3', 'de', 'deepgram/nova-3', 'de'],
    ['deepgram/nova-3', undefined, 'deepgram/nova-3', undefined],
    ['deepgram/nova-3', '', 'deepgram/nova-3', undefined],
    ['deepgram/nova-3-multilingual', undefined, 'deepgram/nova-3-multilingual', 'multi'],
    ['deepgram/nova-3-multilingual', 'multi', 'deepgram/nova-3-multilingual', 'multi'],
    ['deepgram/base', 'multi', 'deepgram/base', 'multi'],
    ['local/pocketsphinx', 'multi', 'local/pocketsphinx', 'multi'],
  ])(
    'live transcription of %s in the language %s is priced as %s',
    (asked, language, id, spoken) => {
      expect(spokenModel(catalogue, asked, language)).toEqual({ id, language: spoken });
    },
  );
});
