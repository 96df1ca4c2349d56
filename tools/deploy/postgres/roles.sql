-- The two roles of the store. `petstore` owns the tables and runs the migrations. `petstore_service` is the role of the
-- services and the petstore command: it reads and writes rows, and can create, alter or drop nothing. It adds entries to the
-- audit log, and cannot change or delete them.
-- An administrator of the server runs this once with psql, connected to the database of the store. Running it again
-- changes the passwords and repeats the grants:
--   OWNER_PASSWORD_FILE=... SERVICE_PASSWORD_FILE=... psql --file=roles.sql "$ADMINISTRATOR_URL"
\set ON_ERROR_STOP on
\set owner_password `cat "$OWNER_PASSWORD_FILE"`
\set service_password `cat "$SERVICE_PASSWORD_FILE"`
-- An empty password would clear the old one, and psql goes on after a `cat` that failed.
select :'owner_password' = '' or :'service_password' = '' as "isMissing" \gset
\if :isMissing
  do $$ begin raise 'OWNER_PASSWORD_FILE or SERVICE_PASSWORD_FILE is missing or empty'; end $$;
\endif

select format('create role %I', name) from unnest(array['petstore', 'petstore_service']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role petstore login password :'owner_password';
alter role petstore_service login password :'service_password';

-- An administrator who is no superuser, as on a managed server, has to be a member to act for the owner.
select 'grant petstore to current_user' from pg_roles where rolname = current_user and not rolsuper \gexec

select format('alter database %I owner to petstore', current_database()) \gexec
select format('revoke all on database %I from public', current_database()) \gexec
select format('grant connect on database %I to petstore_service', current_database()) \gexec
-- Every role may create large objects. Only a superuser can change that.
select 'revoke execute on function lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) from public'
from pg_roles where rolname = current_user and rolsuper \gexec
-- PostgreSQL 14 lets every role create tables here.
revoke create on schema public from public;
grant usage, create on schema public to petstore;
grant usage on schema public to petstore_service;

-- On the tables that exist, and on those that migrations will create.
grant select, insert, update, delete on all tables in schema public to petstore_service;
grant usage on all sequences in schema public to petstore_service;
alter default privileges for role petstore in schema public
  grant select, insert, update, delete on tables to petstore_service;
alter default privileges for role petstore in schema public grant usage on sequences to petstore_service;
-- The grant above includes an audit log that exists. Without one, its migration does this.
select 'revoke update, delete on public.audit_log from petstore_service' where to_regclass('public.audit_log') is not null \gexec
