-- Members of accounts and invites to them; keys know the member who issued them.
CREATE TABLE "invites" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "invites_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"digest" text NOT NULL,
	"invited_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"sends" integer DEFAULT 1 NOT NULL,
	"sent_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"ended_as" text,
	CONSTRAINT "invites_digest_unique" UNIQUE("digest"),
	CONSTRAINT "invites_role" CHECK ("invites"."role" in ('admin', 'member', 'viewer')),
	CONSTRAINT "invites_ended" CHECK ("invites"."ended_as" in ('accepted', 'deleted', 'expired'))
);
--> statement-breakpoint
CREATE TABLE "members" (
	"account_id" text NOT NULL,
	"wallet" text NOT NULL,
	"role" text NOT NULL,
	"email" text NOT NULL,
	"invited_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_account_id_wallet_pk" PRIMARY KEY("account_id","wallet"),
	CONSTRAINT "members_role" CHECK ("members"."role" in ('owner', 'admin', 'member', 'viewer'))
);
--> statement-breakpoint
ALTER TABLE "developers" ADD COLUMN "ai_tool_connected_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD COLUMN "created_by" text;--> statement-breakpoint
ALTER TABLE "developer_keys" ADD COLUMN "created_by" text;--> statement-breakpoint
ALTER TABLE "invites" ADD CONSTRAINT "invites_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "invites_open" ON "invites" USING btree ("account_id","email") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "invites_account" ON "invites" USING btree ("account_id","sent_at");--> statement-breakpoint
CREATE INDEX "invites_email" ON "invites" USING btree ("email","sent_at");