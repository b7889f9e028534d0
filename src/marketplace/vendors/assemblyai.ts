import { assemblyaiApi } from '../../models/providers/vendors/assemblyai.ts';
import { LIST } from '../prices/price-list.ts';
import { hearBy } from '../shared-api.ts';
import { keyed, type Vendor } from '../vendor.ts';

const { stt } = LIST.assemblyai;

const MODELS = { 'universal-3-5-pro': stt, 'universal-3-pro': stt };

export const assemblyai: Vendor = {
  name: 'assemblyai',
  title: 'AssemblyAI',
  account: keyed('ASSEMBLYAI_API_KEY', 'https://api.assemblyai.com/v2', assemblyaiApi.credential),
  services: { stt: hearBy(assemblyaiApi.hearing, MODELS, 'audio_duration') },
};
