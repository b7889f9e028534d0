import { expect, it } from 'vitest';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import { fullModelId, spokenModel } from '../../../../src/protocols/deepgram/model-name.ts';

const KNOWN = new Set(['deepgram/nova-3', 'deepgram/base', 'deepgram/aura-2', 'local/flite']);
const models = {
  find: (id: string) => (KNOWN.has(id) ? ({ id } as Model) : undefined),
  findKeyed: (id: string) => (id === 'deepgram/keyed' ? ({ id } as Model) : undefined),
};

it('a Deepgram model name gets the maker that clients leave out and loses the kind that clients add', () => {
  const named = ['nova-3', 'nova-3-general', 'base-general', 'keyed', 'local/flite', 'a/b-general'];
  expect(named.map((name) => fullModelId(models, name))).toEqual([
    'deepgram/nova-3',
    'deepgram/nova-3',
    'deepgram/base',
    'deepgram/keyed',
    'local/flite',
    'a/b-general',
  ]);
});

it('a Deepgram voice name is read as a model with a voice, and no other name is', () => {
  const voice = 'aura-2-thalia-en';
  expect(spokenModel(models, voice)).toEqual({ model: 'deepgram/aura-2', voice });
  expect(spokenModel(models, `deepgram/${voice}`)).toEqual({ model: 'deepgram/aura-2', voice });
  expect(spokenModel(models, 'aura-asteria-en').model).toBe('deepgram/aura');
  for (const name of ['local/flite', 'deepgram/aura-2', 'aura-2-../../x-en']) {
    expect(spokenModel(models, name).voice).toBeUndefined();
  }
});
