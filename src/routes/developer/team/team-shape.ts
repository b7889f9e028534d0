import { z } from 'zod';
import { ROLES } from '../../../accounts/developers/role.ts';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import { INVITED_ROLES } from '../../../accounts/management/team/invite.ts';
import { isMailAddress, MAIL_ADDRESS_RULE } from '../../../platform/mail/mail-address.ts';
import { RowId } from '../../row-id.ts';

export const MemberParams = z.object({
  wallet: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address of 40 hex digits')
    .transform((wallet) => wallet.toLowerCase()),
});

export const InviteParams = z.object({ inviteId: RowId });

export const RoleName = z.enum(ROLES);
export const InvitedRoleName = z.enum(INVITED_ROLES);

export const Email = z
  .string()
  .max(ACCOUNT_LIMITS.team.emailChars)
  .transform((email) => email.trim().toLowerCase())
  .refine(isMailAddress, { message: MAIL_ADDRESS_RULE });

export const InviteRecord = z.object({
  id: z.number(),
  email: z.string(),
  role: InvitedRoleName,
  expiresAt: z.string(),
  createdAt: z.string(),
});

/** Answer to an invite that was made or sent again. `token` and `link` are present only where no mail server is configured. */
export const DeliveredInvite = z.object({
  invite: InviteRecord,
  delivery: z.enum(['mailed', 'failed', 'shown']),
  message: z.string(),
  token: z.string().optional(),
  link: z.string().nullable().optional(),
});
