import { refusal } from '../refusal.ts';

export const keys = {
  notFound: () => refusal(404, 'Key not found', 'API key not found or already revoked'),
  limitExceeded: (max: number) => refusal(400, 'Limit exceeded', `Maximum ${max} API keys allowed`),
};
