import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openQueueReceiver, openQueueSender } from '../../../core/transport/zeromq/queue.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

describe('the queue between processes', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await temporaryFolder('queue-')
    path = join(directory, 'q.ipc')
  })
  afterEach(() => removeFolder(directory))

  test('delivers messages in order, sent without waiting and before the receiver exists', async () => {
    const sender = openQueueSender(path)
    const sent = Promise.all(Array.from({ length: 50 }, (_, n) => sender.send(Buffer.from(`${n}`))))
    const receiver = await openQueueReceiver(path)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const received: string[] = []
    for await (const message of receiver) if (received.push(String(message)) === 50) break
    await sent
    expect(received).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`))
    sender.close()
    receiver.close()
  })

  test('refuses a second receiver', async () => {
    const receiver = await openQueueReceiver(path)
    await expect(openQueueReceiver(path)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
    receiver.close()
  })
})
