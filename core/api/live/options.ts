/** Settings of what is live, and of limits: they join those in `../settings.ts`. */
import { count, flag, integer, list, number, oneOf, text } from '../../config/option.ts'

export const liveOptions = {
  events: oneOf(
    ['own', 'all'],
    'own',
    'Whose jobs and runs readers of events see: their own, or all as with Salt.',
  ),
  max_readers: count(1000, 'Readers of events at once.'),
  max_reader_backlog: integer(16_777_216, 'Bytes a reader of events may be behind before it is dropped.', {
    minimum: 65_536,
  }),
  websockets: flag(true, 'Offer events by websocket, too.'),
  webhook_url: text('/hook', 'Where programs outside send what becomes an event.'),
  webhook_disable_auth: flag(false, 'They need no token. Whoever reaches this server can fire such events.'),
  collect_stats: flag(true, 'Offer figures at /stats to those with a token.'),
  stats_disable_auth: flag(false, 'They, and those at /metrics, are for everybody.'),
  metrics: flag(
    true,
    'Serve /metrics to collectors that show a token, or with stats_disable_auth to everybody.',
  ),

  login_attempts: integer(20, 'Wrong passwords or tokens until an address, or a user, has to wait.', {
    minimum: 1,
    maximum: 10_000,
  }),
  login_lockout: integer(300, 'Seconds in which they are counted, and that are to be waited then.', {
    minimum: 1,
    maximum: 86_400,
  }),
  requests_per_minute: count(30_000, 'Requests of one address, and of one token; 0: no limit.'),
  max_waits: count(10_000, 'Requests that are being answered at once; 0: no limit.'),
  max_waits_per_token: count(5000, 'The same for one token, or for one address without.'),
  max_connections: count(20_000, 'Connections at once; more are closed. 0: no limit.'),
  request_timeout: number(30, 'Seconds a client has to send a whole request.', { minimum: 1 }),
  keep_alive_timeout: number(72, 'Seconds a connection stays open between requests.', { minimum: 1 }),
  trust_proxy: list([], 'Addresses of proxies whose X-Forwarded-For says who the client is.'),
  stop_timeout: number(4, 'Seconds that running requests have when the server stops.', { minimum: 0 }),
} as const
