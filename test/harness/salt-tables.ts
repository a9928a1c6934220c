/** The tables that Salt's documentation of its returners has users create, in the order of its statements. */

const postgres = (json: 'text' | 'jsonb', jid: string, fullRet: string, indexes: readonly string[]) => [
  `create table jids (jid ${jid} primary key, load ${json} not null)`,
  `create table salt_returns (fun varchar(50) not null, jid varchar(255) not null, return ${json} not null,
    full_ret ${fullRet}, id varchar(255) not null, success varchar(10) not null,
    alter_time timestamp with time zone default now())`,
  ...['id', 'jid', 'fun'].map((name) => `create index idx_salt_returns_${name} on salt_returns (${name})`),
  'create sequence seq_salt_events_id',
  `create table salt_events (id bigint not null unique default nextval('seq_salt_events_id'),
    tag varchar(255) not null, data ${json} not null, alter_time timestamp with time zone default now(),
    master_id varchar(255) not null)`,
  'create index idx_salt_events_tag on salt_events (tag)',
  ...indexes,
]

const gin = (name: string, table: string, column: string) =>
  `create index ${name} on ${table} using gin (${column}) with (fastupdate = on)`

/** UTF-8 of at most three bytes. */
const INNODB = 'engine=InnoDB default charset=utf8mb3'

export const SALT_TABLES = {
  postgres: postgres('text', 'varchar(20)', 'text', [
    'create index idx_salt_returns_updated on salt_returns (alter_time)',
  ]),
  pgjsonb: postgres('jsonb', 'varchar(255)', 'jsonb not null', [
    gin('idx_jids_jsonb', 'jids', 'load'),
    gin('idx_salt_returns_return', 'salt_returns', 'return'),
    gin('idx_salt_returns_full_ret', 'salt_returns', 'full_ret'),
    gin('idx_salt_events_data', 'salt_events', 'data'),
  ]),
  mysql: [
    `create table jids (jid varchar(255) not null, \`load\` mediumtext not null, unique key jid (jid)) ${INNODB}`,
    `create table salt_returns (fun varchar(50) not null, jid varchar(255) not null,
      \`return\` mediumtext not null, id varchar(255) not null, success varchar(10) not null,
      full_ret mediumtext not null, alter_time timestamp default current_timestamp,
      key id (id), key jid (jid), key fun (fun)) ${INNODB}`,
    `create table salt_events (id bigint not null auto_increment, tag varchar(255) not null,
      data mediumtext not null, alter_time timestamp default current_timestamp, master_id varchar(255) not null,
      primary key (id), key tag (tag)) ${INNODB}`,
  ],
  sqlite3: [
    'create table jids (jid text primary key, load text not null)',
    `create table salt_returns (fun text key, jid text key, id text key, fun_args text, date text not null,
      full_ret text not null, success text not null)`,
  ],
} as const
