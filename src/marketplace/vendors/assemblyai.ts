import { assemblyaiApi } from '../../models/providers/vendors/assemblyai.ts';
import { LIST } from '../prices/price-list.ts';
import { hearBy } from '../shared-api.ts';
import { keyed, type Vendor } from '../vendor.ts';

const { stt } = LIST.assemblyai;

const MODELS = { 'universal-3-5-pro': stt, 'universal-3-pro': stt };

/**
 * Options that cost nothing extra (https://www.assemblyai.com/docs/api-reference/transcripts/submit). Speaker labels, key
 * terms, summaries and similar options are billed apart, and a webhook would send the transcript elsewhere.
 */
const OPTIONS: ReadonlySet<string> = new Set([
  'punctuate',
  'format_text',
  'disfluencies',
  'filter_profanity',
  'speech_threshold',
  'language_confidence_threshold',
  'word_boost',
  'boost_param',
]);

export const assemblyai: Vendor = {
  name: 'assemblyai',
  title: 'AssemblyAI',
  account: keyed('ASSEMBLYAI_API_KEY', 'https://api.assemblyai.com/v2', assemblyaiApi.credential),
  services: { stt: hearBy(assemblyaiApi.hearing, MODELS, 'audio_duration', OPTIONS) },
};
