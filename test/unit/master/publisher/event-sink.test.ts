/** Events on their way to the outbox of `event_return`. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Deferred, deferred } from '../../../../core/base/deferred.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { encodeEvent } from '../../../../core/events/event.ts'
import { EventSink } from '../../../../core/master/publisher/event-sink.ts'
import type { OutboxItem } from '../../../../core/outbox/outbox.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { spyLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { eventually } from '../../../harness/until.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => removeFolder(folder))

/** Open a sink on an outbox whose commits end when `commit` is called. */
function openSink() {
  const overrides = { event_return: ['one', 'two'], event_return_blacklist: ['noise/*'] }
  const { config } = loadMasterConfig({ configDir: folder, overrides })
  const commits: { tags: string[]; targets: readonly string[]; done: Deferred<void> }[] = []
  const outbox = {
    async add(targets: readonly string[], items: readonly OutboxItem[]) {
      const done = deferred()
      const tags = items.flatMap((item) => (item.kind === 'event' ? [item.tag] : []))
      commits.push({ tags, targets, done })
      await done.promise
    },
  }
  const log = spyLog()
  const onQueued = vi.fn()
  const sink = new EventSink(config, { outbox, log, onQueued })
  const fire = (tag: string, data = {}) => sink.take(tag, encodeEvent(tag, data))
  return { sink, commits, log, onQueued, fire }
}

test('events that are fired together share a commit, and count as stored when it has ended', async () => {
  const { sink, commits, onQueued, fire } = openSink()
  await sink.stored() // nothing to wait for
  for (const tag of ['a', 'noise/b', 'c']) fire(tag)
  let isStored = false
  const stored = sink.stored().then(() => {
    isStored = true
  })
  await eventually(() => expect(commits).toHaveLength(1))
  fire('d')
  expect(commits[0]).toMatchObject({ tags: ['a', 'c'], targets: ['one', 'two'] })
  expect(isStored).toBe(false)
  commits[0]?.done.resolve()
  await stored
  expect(onQueued).toHaveBeenCalledOnce()
  await eventually(() => expect(commits[1]?.tags).toEqual(['d']))
  commits[1]?.done.resolve()
  await sink.close()
})

test('only an event that cannot be read, or stored, is lost, and others do not wait for it', async () => {
  const { sink, commits, log, fire } = openSink()
  sink.take('torn', Buffer.from('torn\n\n\x81'))
  fire('whole')
  await eventually(() => expect(commits[0]?.tags).toEqual(['whole']))
  commits[0]?.done.reject(new Error('The disk is full.'))
  await sink.stored()
  await sink.close()
  expect(log.error.mock.calls.map(([sentence]) => sentence)).toEqual([
    expect.stringContaining('An event is not in event_return: '),
    '1 events are not in event_return: The disk is full.',
  ])
})

test('what is lost while the disk is full is reported together, not with each commit', async () => {
  const { sink, commits, log, fire } = openSink()
  for (let done = 0; done < 5; done++) {
    fire(`event/${done}`)
    await eventually(() => expect(commits).toHaveLength(done + 1))
    commits[done]?.done.reject(new Error('The disk is full.'))
    await sink.stored()
  }
  await eventually(() => expect(log.error).toHaveBeenCalled())
  fire('last')
  await eventually(() => expect(commits).toHaveLength(6))
  commits[5]?.done.reject(new Error('The disk is full.'))
  await sink.close()
  expect(log.error.mock.calls).toEqual([
    ['5 events are not in event_return: The disk is full.'],
    ['1 events are not in event_return: The disk is full.'],
  ])
})

test('events that come faster than they can be stored are counted', SLOW, async () => {
  const { sink, commits, log, fire } = openSink()
  fire('first')
  await eventually(() => expect(commits).toHaveLength(1))
  const body = Buffer.concat([encodeEvent('large', {}), Buffer.alloc(40 * 1024 * 1024)])
  for (let count = 0; count < 3; count++) sink.take('large', body)
  commits[0]?.done.resolve()
  await eventually(() =>
    expect(log.error).toHaveBeenCalledWith(
      '2 events are not in event_return: they came faster than they could be stored.',
    ),
  )
  await eventually(() => expect(commits).toHaveLength(2))
  commits[1]?.done.resolve()
  await sink.close()
})

test('a commit has at most some megabytes of events, since they take far more memory when they are decoded', async () => {
  const { sink, commits, fire } = openSink()
  const tags = Array.from({ length: 12 }, (_, number) => `large/${number}`)
  for (const tag of tags) fire(tag, { text: 'x'.repeat(1_000_000) })
  for (let done = 0; done < 3; done++) {
    await eventually(() => expect(commits).toHaveLength(done + 1))
    expect(commits[done]?.tags.length).toBeLessThan(6)
    commits[done]?.done.resolve()
  }
  await sink.close()
  expect(commits.flatMap((commit) => commit.tags)).toEqual(tags)
})
