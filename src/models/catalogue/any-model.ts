import { byokSource, impliedSource } from './byok-source.ts';
import type { Catalogue, Modality, Model } from './catalogue.ts';

/** Matches names of Anthropic's models. In an id without a provider, every other name belongs to OpenAI. */
const CLAUDE = /^claude/i;

/**
 * Returns a catalogue of all models of the providers, also unlisted ones, for buyers with a provider key of their own. It sells
 * nothing from the pool. A model is named `<provider>/<name>`; a bare name means Anthropic if it is a Claude model, else
 * OpenAI.
 */
export function anyModelOf(catalogue: Catalogue, modality: Modality): Catalogue {
  return {
    ...catalogue,
    models: [],
    find: () => undefined,
    suggest: () => [],
    findKeyed(id) {
      const known = catalogue.findKeyed(id);
      if (known?.modality === modality && impliedSource(known) !== undefined) return known;
      const named = nameOf(id, catalogue.keyedProviders);
      return named && modelOf(named, modality);
    },
  };
}

/** Characters of a valid model name, which is sent in a header. */
const PRINTABLE = /^[\x21-\x7e]+$/;

type Named = { readonly provider: string; readonly name: string };

function nameOf(id: string, keyed: readonly string[]): Named | undefined {
  const cut = id.indexOf('/');
  const provider = cut === -1 ? (CLAUDE.test(id) ? 'anthropic' : 'openai') : id.slice(0, cut);
  const name = id.slice(cut + 1);
  return PRINTABLE.test(name) && keyed.includes(provider) ? { provider, name } : undefined;
}

const modelOf = ({ provider, name }: Named, modality: Modality): Model => ({
  id: `${provider}/${name}`,
  modality,
  contextWindow: null,
  maxOutputTokens: null,
  sources: [byokSource(provider, name)],
});
