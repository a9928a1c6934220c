import { expect, test } from 'vitest'
import { decideAboutKey, type KeyFacts } from '../../../core/keys/decision.ts'

const yes = async () => true
const no = async () => false
const signed = async () => 'autosign_file' as const
const unasked = async () => {
  throw new Error('this must not be asked')
}

const facts = (given: Partial<KeyFacts>): KeyFacts => ({
  filed: undefined,
  full: false,
  openMode: false,
  autoReject: no,
  autoSign: async () => false,
  join: async () => undefined,
  pendingFull: no,
  rejectedFull: no,
  ...given,
})

const filed = (state: 'accepted' | 'pending' | 'rejected', same = true) => ({ filed: { state, same } })
const silent = {
  autoReject: unasked,
  autoSign: unasked,
  join: unasked,
  pendingFull: unasked,
  rejectedFull: unasked,
}

test.each<[string, Partial<KeyFacts>, object]>([
  ['too many minions: full', { full: true, ...filed('accepted'), ...silent }, { verdict: 'full' }],
  [
    'open mode: any key',
    { openMode: true, ...filed('accepted', false), ...silent },
    { verdict: 'accepted', file: 'accepted', by: 'open_mode' },
  ],
  [
    'open mode: rejected ones too',
    { openMode: true, ...filed('rejected'), ...silent },
    { verdict: 'accepted', file: 'accepted', leave: 'rejected', by: 'open_mode' },
  ],
  [
    'a rejected id: rejected, whatever the key',
    { ...filed('rejected', false), ...silent },
    { verdict: 'rejected' },
  ],
  ['the accepted key: accepted', { ...filed('accepted'), ...silent }, { verdict: 'accepted' }],
  [
    'another key than the accepted: denied',
    { ...filed('accepted', false), ...silent },
    { verdict: 'denied', file: 'denied' },
  ],
  [
    'another key than a damaged one: nobody knows',
    { filed: { state: 'accepted', same: false, damage: 'it is empty' }, ...silent },
    { verdict: 'damaged' },
  ],
  ['a new key: pending', {}, { verdict: 'pending', file: 'pending' }],
  [
    'a new key, auto-signed: accepted',
    { autoSign: signed, join: unasked },
    { verdict: 'accepted', file: 'accepted', by: 'autosign_file' },
  ],
  [
    'a new key, auto-rejected',
    { autoReject: yes, autoSign: unasked },
    { verdict: 'rejected', file: 'rejected' },
  ],
  [
    'a new key, auto-rejected, with too many rejected: not filed',
    { autoReject: yes, rejectedFull: yes },
    { verdict: 'rejected' },
  ],
  ['a new key with too many waiting: full', { pendingFull: yes }, { verdict: 'full' }],
  ['the pending key: pending', filed('pending'), { verdict: 'pending' }],
  [
    'another key than the pending: denied',
    { ...filed('pending', false), autoSign: unasked },
    { verdict: 'denied', file: 'denied' },
  ],
  [
    'the pending key, auto-signed',
    { ...filed('pending'), autoSign: signed },
    { verdict: 'accepted', file: 'accepted', leave: 'pending', by: 'autosign_file' },
  ],
  [
    'a pending id, auto-rejected',
    { ...filed('pending'), autoReject: yes },
    { verdict: 'rejected', file: 'rejected', leave: 'pending' },
  ],
])('%s', async (_, given, expected) => {
  const decision = await decideAboutKey(facts(given))
  const { reason, ...rest } = decision
  expect(rest).toEqual(expected)
  expect(reason).toMatch(/\w+ \w+/)
})
