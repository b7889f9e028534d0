import type { ProviderEntry } from './builtin-model.ts';

/**
 * Built-in providers. A vendor's OpenAI-compatible address is preferred to its own dialect unless this server speaks that
 * dialect: the compatible address of `anthropic` caches no prompts.
 */
export const BUILTIN_PROVIDERS: Readonly<Record<string, ProviderEntry>> = {
  local: { baseUrl: null, dialect: 'local' },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    apiKeyEnv: 'OPENAI_API_KEY',
    dialect: 'openai',
    capMember: 'max_completion_tokens',
    speaksResponses: true,
    callIds: 'forty',
  },
  'openai-realtime': {
    baseUrl: 'wss://api.openai.com/v1',
    apiKeyEnv: 'OPENAI_API_KEY',
    dialect: 'openai-realtime',
    vendor: 'openai',
  },
  'openai-live': {
    baseUrl: 'wss://api.openai.com/v1',
    apiKeyEnv: 'OPENAI_API_KEY',
    dialect: 'openai-live',
    vendor: 'openai',
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    apiKeyEnv: 'ANTHROPIC_API_KEY',
    dialect: 'anthropic',
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    apiKeyEnv: 'GEMINI_API_KEY',
    dialect: 'openai',
    signsCalls: true,
    callIds: 'unique',
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    apiKeyEnv: 'MISTRAL_API_KEY',
    dialect: 'openai',
    chatMembers: ['prompt_cache_key'],
    callIds: 'nine',
    strictOrder: true,
  },
  sarvam: {
    baseUrl: 'https://api.sarvam.ai/v1',
    apiKeyEnv: 'SARVAM_API_KEY',
    dialect: 'openai',
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKeyEnv: 'GROQ_API_KEY',
    dialect: 'openai',
    chatMembers: ['user'],
  },
  deepinfra: {
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    apiKeyEnv: 'DEEPINFRA_API_KEY',
    dialect: 'openai',
    chatMembers: ['prompt_cache_key', 'user'],
  },
  together: {
    baseUrl: 'https://api.together.xyz/v1',
    apiKeyEnv: 'TOGETHER_API_KEY',
    dialect: 'openai',
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com/v1',
    apiKeyEnv: 'DEEPSEEK_API_KEY',
    dialect: 'openai',
    thoughts: 'demanded',
  },
  moonshot: {
    baseUrl: 'https://api.moonshot.ai/v1',
    apiKeyEnv: 'MOONSHOT_API_KEY',
    dialect: 'openai',
    chatMembers: ['prompt_cache_key', 'safety_identifier'],
    thoughts: 'demanded',
  },
  zai: {
    baseUrl: 'https://api.z.ai/api/paas/v4',
    apiKeyEnv: 'ZAI_API_KEY',
    dialect: 'openai',
    thoughts: 'taken',
  },
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    apiKeyEnv: 'XAI_API_KEY',
    dialect: 'openai',
    chatMembers: ['prompt_cache_key', 'user'],
  },
  cohere: {
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    apiKeyEnv: 'COHERE_API_KEY',
    dialect: 'openai',
  },
  perplexity: {
    baseUrl: 'https://api.perplexity.ai',
    apiKeyEnv: 'PERPLEXITY_API_KEY',
    dialect: 'openai',
  },
  deepgram: {
    baseUrl: 'wss://api.deepgram.com/v1',
    apiKeyEnv: 'DEEPGRAM_API_KEY',
    dialect: 'deepgram',
  },
  'xai-realtime': {
    baseUrl: 'wss://api.x.ai/v1',
    apiKeyEnv: 'XAI_API_KEY',
    dialect: 'openai-realtime',
    vendor: 'xai',
  },
  cartesia: {
    baseUrl: 'https://api.cartesia.ai',
    apiKeyEnv: 'CARTESIA_API_KEY',
    dialect: 'cartesia',
  },
  elevenlabs: {
    baseUrl: 'https://api.elevenlabs.io/v1',
    apiKeyEnv: 'ELEVENLABS_API_KEY',
    dialect: 'elevenlabs',
  },
  rime: {
    baseUrl: 'https://users.rime.ai/v1',
    apiKeyEnv: 'RIME_API_KEY',
    dialect: 'rime',
  },
  assemblyai: {
    baseUrl: 'wss://streaming.assemblyai.com/v3',
    apiKeyEnv: 'ASSEMBLYAI_API_KEY',
    dialect: 'assemblyai',
  },
  // Whole files have their own address and protocol.
  'assemblyai-batch': {
    baseUrl: 'https://api.assemblyai.com/v2',
    apiKeyEnv: 'ASSEMBLYAI_API_KEY',
    dialect: 'assemblyai-batch',
    vendor: 'assemblyai',
  },
};
