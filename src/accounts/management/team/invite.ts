import type { Role } from '../../developers/role.ts';

export const INVITED_ROLES = ['admin', 'member', 'viewer'] as const satisfies readonly Role[];
export type InvitedRole = (typeof INVITED_ROLES)[number];

export type Invite = {
  readonly id: number;
  readonly accountId: string;
  readonly email: string;
  readonly role: InvitedRole;
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly endedAs: 'accepted' | 'deleted' | 'expired' | null;
};

/** Returns an invite as routes show it. */
export const inviteRecord = ({ createdAt, email, expiresAt, id, role }: Invite) => ({
  id,
  email,
  role,
  expiresAt: expiresAt.toISOString(),
  createdAt: createdAt.toISOString(),
});
