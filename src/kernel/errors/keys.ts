import { refusal } from './refusal.ts';

export const keys = {
  notFound: () => refusal(404, 'Key not found', 'API key not found or already revoked'),
  forbidden: () => refusal(403, 'forbidden', 'This key belongs to another wallet.'),
  limitExceeded: (max: number) => refusal(400, 'Limit exceeded', `Maximum ${max} API keys allowed`),
};
