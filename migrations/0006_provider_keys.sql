-- Keys of developers at the providers of models, sealed under a secret that no row holds.
CREATE TABLE "provider_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "provider_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"provider" text NOT NULL,
	"sealed_key" "bytea" NOT NULL,
	"key_prefix" text NOT NULL,
	"label" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"created_by" text NOT NULL,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_keys_one_each" UNIQUE("account_id","provider")
);
--> statement-breakpoint
ALTER TABLE "provider_keys" ADD CONSTRAINT "provider_keys_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;
