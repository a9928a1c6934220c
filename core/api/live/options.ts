/** Settings for events, hooks, statistics and limits. They are part of those in `../settings.ts`. */
import { count, flag, integer, list, number, oneOf, text } from '../../config/option.ts'

export const liveOptions = {
  events: oneOf(
    ['own', 'all'],
    'own',
    'Which jobs and runs readers of events see: their own, or all of them as in Salt.',
  ),
  max_readers: count(1000, 'Maximum number of connected readers of events.'),
  max_reader_backlog: integer(16_777_216, 'Bytes a reader of events may be behind before it is dropped.', {
    minimum: 65_536,
  }),
  websockets: flag(true, 'Serve events over websockets as well.'),
  webhook_url: text('/hook', 'Path of webhooks, whose requests become events.'),
  webhook_disable_auth: flag(
    false,
    'Accept webhooks without a token: everybody who reaches this server can fire such events.',
  ),
  collect_stats: flag(true, 'Serve statistics at /stats to clients with a token.'),
  stats_disable_auth: flag(false, 'Serve /stats and /metrics without a token.'),
  metrics: flag(true, 'Serve /metrics to collectors with a token, or with stats_disable_auth to everybody.'),

  login_attempts: integer(
    20,
    'Number of wrong passwords or tokens after which an address, or a user, is locked out.',
    {
      minimum: 1,
      maximum: 10_000,
    },
  ),
  login_lockout: integer(300, 'Seconds in which wrong attempts are counted, and seconds a lock-out lasts.', {
    minimum: 1,
    maximum: 86_400,
  }),
  requests_per_minute: count(
    30_000,
    'Maximum number of requests per minute from one address, and with one token. 0: no limit.',
  ),
  max_waits: count(10_000, 'Maximum number of requests in progress. 0: no limit.'),
  max_waits_per_token: count(
    5000,
    'Maximum number of requests in progress with one token, or from one address without a token. 0: no limit.',
  ),
  max_connections: count(20_000, 'Maximum number of connections; further ones are closed. 0: no limit.'),
  request_timeout: number(30, 'Seconds a client has to send a complete request.', { minimum: 1 }),
  keep_alive_timeout: number(72, 'Seconds a connection stays open between requests.', { minimum: 1 }),
  trust_proxy: list([], 'Addresses of proxies whose X-Forwarded-For header names the client.'),
  stop_timeout: number(4, 'Seconds that requests in progress have left when the server stops.', {
    minimum: 0,
  }),
} as const
