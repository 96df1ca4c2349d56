/** Keys can be rotated, bans can be lifted, and the database itself publishes every change to the instances. */
export const keysThatChange: string = `
alter table api_keys
  add column lineage bigint references api_keys,
  add column ban_lifted_at timestamptz;
-- A trigger publishes in the transaction of the change, even if an operator makes it in psql.
create function tell_account_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('petstore', json_build_object('kind', 'account-changed', 'account', old.id::text)::text);
        return null;
      end $$;
create function tell_key_changed() returns trigger language plpgsql as $$
      declare
        news jsonb := jsonb_build_object('kind', 'account-changed', 'account', old.account_id::text);
      begin
        if tg_op = 'UPDATE' and new.ban_lifted_at is distinct from old.ban_lifted_at then
          news := news || jsonb_build_object('lifted', jsonb_build_object(
            'key', coalesce(new.lineage, new.id)::text,
            'atMs', floor(extract(epoch from new.ban_lifted_at) * 1000)
          ));
        end if;
        perform pg_notify('petstore', news::text);
        return null;
      end $$;
create trigger accounts_changed after update or delete on accounts
  for each row execute function tell_account_changed();
create trigger api_keys_changed after update or delete on api_keys
  for each row execute function tell_key_changed();
`;
