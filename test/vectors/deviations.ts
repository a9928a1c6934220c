/**
 * Where our master answers otherwise than the recorded one, and why. Reasons that begin with "repair" are weaknesses of
 * real masters (wire protocol §18, §19), those that begin with "not yet" are features that are to come, and "older"
 * stands for generations below 2, of which only encrypted requests are understood at all.
 */

import { expect } from 'vitest'

interface Deviation {
  readonly answer: unknown
  readonly why: string
}

type Table = Readonly<Record<string, Deviation>>

export interface Forms {
  readonly channel: Table
  readonly auth: Table
  readonly signIn: Table
  readonly sets: Table
}

const sealed = (value: unknown) => ({ sealed: value })
const table = (names: readonly string[], answer: unknown, why: string): Table =>
  Object.fromEntries(names.map((name) => [name, { answer, why }]))
const numbered = (stem: string, ends: readonly string[]) => ends.map((end) => `${stem}${end}`)

const refusedByChannel = (why: string) => ({ answer: 'bad load', why })
const authenticationError = {
  error: { name: 'AuthenticationError', message: 'Authentication error occurred.' },
}

const ALWAYS_ANSWERED = 'repair: every request is answered (§5)'
const NO_PILLAR = 'not yet: the pillar is empty'
const MINE_CLEARED = 'repair: all values are replaced, where a real master fails and stores nothing'
const NO_PROOF = 'repair: only a proved id has a mine (§19)'
const NO_RETURNS = 'a repair: where there are no returns there is an empty map of them, not an empty text'
const OTHER_TOKEN = 'the token is one of the recorded master; ours knows its own'
const UNKNOWN_ID = 'repair: without an accepted key an id has no requests (§19, deleted minions)'

const emptyPillar = { pillar: { isSigned: true, isBound: true, pillar: {} } }

/** A key that opens for the minion, hidden with the default algorithm. */
const keyText = { sha1: expect.stringMatching(/^[\w+/]{75}=$/), sha224: undefined }

/** A signed sign-in reply with other entries. */
const signed =
  (change: (entries: [string, unknown][]) => [string, unknown][]) =>
  (recorded: unknown): unknown => ({ signed: change((recorded as { signed: [string, unknown][] }).signed) })

export const deviations: Forms = {
  channel: {
    'publish-token-ok': { answer: authenticationError, why: OTHER_TOKEN },
    'mk_token-ok': {
      answer: (recorded: unknown) => ({ ...(recorded as object), perms: ['.*', '@runner', '@wheel'] }),
      why: 'an addition: what the one it is for may do',
    },
    'publish-no-match': {
      answer: {
        enc: 'clear',
        load: {
          jid: null,
          minions: [],
          error: 'Master could not resolve minions for target zzz*',
          reason: expect.any(String),
        },
      },
      why: 'an addition: why the target means nobody; programs of Salt look at error only',
    },
    'get_token-ok': { answer: {}, why: OTHER_TOKEN },
    'aes-file_recv-traversal': {
      answer: sealed(false),
      why: 'repair: a minion writes to its own folder only (§19)',
    },
    'aes-mine-clear': { answer: sealed(true), why: MINE_CLEARED },
    'aes-mine-no-tok': { answer: sealed(false), why: NO_PROOF },
    'aes-mine-other-id': refusedByChannel('repair: the token is checked before any command is looked at'),
    ...table(['aes-minion_publish', 'aes-pub_ret-unknown-jid'], sealed({}), NO_RETURNS),
    'aes-syndic_return': { answer: sealed({}), why: 'not yet: syndics' },
    'aes-pillar': { answer: emptyPillar, why: NO_PILLAR },
    'aes-pillar-v0': { answer: emptyPillar, why: `${NO_PILLAR}; older: it is signed all the same` },
    'aes-revoke_auth-unknown': refusedByChannel(UNKNOWN_ID),
    'malformed-version-string': refusedByChannel(ALWAYS_ANSWERED),
  },
  auth: {
    ...table(
      [
        ...numbered('auth-accepted-v', [
          'None-no-token',
          'None-token',
          '0-no-token',
          '0-token',
          '1-no-token',
          '1-token',
        ]),
        ...numbered('auth-', ['denied-v0', 'pending-v0', 'rejected-v0', 'full-v0', 'signed-pubkey-v0']),
      ],
      'bad load',
      'older: a sign-in without nonce is not answered with keys, nor in any other way that is not signed',
    ),
    ...table(
      ['auth-accepted-v3-no-token', 'auth-accepted-v3-token'],
      signed((entries) => {
        const at = entries.findIndex(([name]) => name === 'aes') + 1
        return [...entries.slice(0, at), ['session', keyText], ...entries.slice(at)]
      }),
      'the recorded master speaks generation 2; ours gives the session key of generation 3 to who asks in it',
    ),
    'auth-accepted-v2-crlf': {
      answer: {
        signed: [
          ['enc', 'pub'],
          ['pub_key', expect.any(String)],
          ['publish_port', '(port)'],
          ['aes', keyText],
          ['sig', expect.any(Buffer)],
          ['nonce', expect.any(String)],
        ],
      },
      why: 'generation 3 compares keys without regard to line ends (§18), in every generation',
    },
    'auth-id-list': {
      answer: 'bad load: id of that kind is not a string',
      why: 'as for every other id that is not text',
    },
    'auth-garbage-pub-pend': {
      answer: signed((entries) => entries.map(([name, value]) => [name, name === 'ret' ? false : value])),
      why: 'repair: a key is read before it is filed',
    },
    ...table(numbered('auth-v2-missing-', ['nonce', 'pub', 'id']), 'bad load', ALWAYS_ANSWERED),
  },
  signIn: {
    'auth-v2-on-g3': {
      answer: signed((entries) => entries.filter(([name]) => name !== 'session')),
      why: 'repair: a session key is for those who can use it; older minions ignore it',
    },
    'auth-v0-on-g3': refusedByChannel('older: see the sign-ins of generation 2'),
    ...table(numbered('auth-v3-missing-', ['id', 'pub']), 'bad load', ALWAYS_ANSWERED),
    'auth-v3-pub-int': refusedByChannel(ALWAYS_ANSWERED),
    'auth-v3-id-300': {
      answer: {
        signed: [
          ['ret', false],
          ['nonce', expect.any(String)],
        ],
      },
      why: ALWAYS_ANSWERED,
    },
    'auth-v3-bad-enc-algo-no-token': {
      answer: { enc: 'clear', load: { ret: 'bad enc algo' } },
      why: ALWAYS_ANSWERED,
    },
    'auth-v3-signed-pubkey-bad-sig-algo': {
      answer: { enc: 'clear', load: { ret: 'bad sig algo' } },
      why: ALWAYS_ANSWERED,
    },
  },
  sets: {
    'v3-mine-clear': { answer: sealed(true), why: MINE_CLEARED },
    'v2-mine-no-tok': { answer: sealed(false), why: NO_PROOF },
    'v2-mine_get-no-tok': { answer: sealed({}), why: NO_PROOF },
    'v3-minion_publish': { answer: sealed({}), why: NO_RETURNS },
    ...table(
      ['v3-pillar', 'v3-pillar-no-algo-names', 'v3-pillar-no-ver', 'v2-pillar-no-tok'],
      emptyPillar,
      NO_PILLAR,
    ),
    ...table(
      ['v3-no-nonce', 'v3-pillar-no-nonce'],
      'bad load',
      'repair: in generation 3 every reply is bound to its request, so a nonce is mandatory (§18)',
    ),
    'v3-return-second-time': {
      answer: sealed(null),
      why: 'repair: a return that is stored already is acknowledged, also if nobody published its job (§10.5)',
    },
    'v2-pillar-unknown-id': refusedByChannel(UNKNOWN_ID),
    'v2-revoke_auth-no-tok': refusedByChannel(UNKNOWN_ID),
    'v2-revoke_auth-other-minion-no-tok': {
      answer: sealed(false),
      why: 'repair: a key is given up by its owner only (§19)',
    },
    'v2-after-revoke': refusedByChannel(
      'repair: the AES key is changed at once, and the old one opens nothing (§19)',
    ),
    ...table(
      [
        ...numbered('v3-', ['load-empty-map', 'no-marker', 'tok-int', 'nonce-int', 'pillar-bad-enc-algo']),
        ...numbered('clear-ping-version-', ['text', 'nil']),
        'ttl-text',
        ...numbered('workers-no-inner-id-', ['1', '2', '3']),
      ],
      'bad load',
      ALWAYS_ANSWERED,
    ),
  },
}
