-- The two roles of the store. `petstore` owns the tables and runs the migrations. `petstore_service` is the role of the
-- services and the petstore command: it reads and writes rows, and can create, alter or drop nothing. It adds entries to the
-- audit log, and cannot change or delete them.
-- An administrator of the server runs this once with psql, connected to the database of the store. Running it again
-- changes the passwords and repeats the grants:
--   OWNER_PASSWORD_FILE=... SERVICE_PASSWORD_FILE=... psql --file=roles.sql "$ADMINISTRATOR_URL"
-- All databases of a server share its roles. For a second store on the server, OWNER_ROLE names another owner, such as
-- `staging`. The role of its services is then `staging_service`.
\set ON_ERROR_STOP on
\set owner `echo "${OWNER_ROLE:-petstore}"`
select :'owner' || '_service' as service \gset
\set owner_password `cat "$OWNER_PASSWORD_FILE"`
\set service_password `cat "$SERVICE_PASSWORD_FILE"`
-- An empty password would clear the old one, and psql goes on after a `cat` that failed.
select :'owner_password' = '' or :'service_password' = '' as "isMissing" \gset
\if :isMissing
  do $$ begin raise 'OWNER_PASSWORD_FILE or SERVICE_PASSWORD_FILE is missing or empty'; end $$;
\endif

select format('create role %I', name) from unnest(array[:'owner', :'service']) as name
where not exists (select from pg_roles where rolname = name) \gexec
alter role :"owner" login password :'owner_password';
alter role :"service" login password :'service_password';

-- An administrator who is no superuser, as on a managed server, has to be a member to act for the owner.
select format('grant %I to current_user', :'owner') from pg_roles where rolname = current_user and not rolsuper \gexec

select format('alter database %I owner to %I', current_database(), :'owner') \gexec
select format('revoke all on database %I from public', current_database()) \gexec
select format('grant connect on database %I to %I', current_database(), :'service') \gexec
-- Every role may create large objects. Only a superuser can change that.
select 'revoke execute on function lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) from public'
from pg_roles where rolname = current_user and rolsuper \gexec
-- PostgreSQL 14 lets every role create tables here.
revoke create on schema public from public;
grant usage, create on schema public to :"owner";
grant usage on schema public to :"service";

-- On the tables that exist, and on those that migrations will create.
grant select, insert, update, delete on all tables in schema public to :"service";
grant usage on all sequences in schema public to :"service";
alter default privileges for role :"owner" in schema public
  grant select, insert, update, delete on tables to :"service";
alter default privileges for role :"owner" in schema public grant usage on sequences to :"service";
-- The grant above includes an audit log that exists. Without one, its migration does this.
select format('revoke update, delete on public.audit_log from %I', :'service') where to_regclass('public.audit_log') is not null \gexec
