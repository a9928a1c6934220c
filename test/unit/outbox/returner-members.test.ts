/** What `create` of a returner gives is looked at before it is used: a misspelt member is never called. */
import { expect, test } from 'vitest'
import { returner } from '../../../core/author/index.ts'
import { fakeLog, openReturner } from '../../../core/testing/index.ts'

const save = async () => {}
const opened = (made: unknown) => {
  const { log, lines } = fakeLog()
  const open = openReturner(returner({ options: {}, create: () => made as never }), {}, { log })
  return { open, lines }
}

class Store {
  async save_() {}
}

test.each<[unknown, string]>([
  [{ savee: save }, "it has no function 'save'. It has 'savee': did you mean 'save'?"],
  [new Store(), "it has no function 'save'. It has 'save_': did you mean 'save'?"],
  [{ close: save }, "it has no function 'save'."],
  [{ save: true }, "its 'save' is a boolean, not a function."],
  [{ save, getJid: 'x' }, "its 'getJid' is text, not a function."],
  [{ save, idempotent: 'no' }, "its 'idempotent' is text, not a boolean."],
  [undefined, "its 'create' returns undefined, but must return an object with a function 'save'."],
])('a returner %j is refused with a sentence that names the mistake', async (made, reason) => {
  await expect(opened(made).open).rejects.toMatchObject({
    code: 'MODULE_FAILED',
    message: `The returner tested cannot be used: ${reason}`,
  })
})

test.each([
  ['prep_jid', 'prepJid'],
  ['getJjid', 'getJid'],
])('an unknown member %s causes a warning', async (member, meant) => {
  const { open, lines } = opened({ save, [member]: save, ownHelper: save })
  await open
  expect(lines).toEqual([
    {
      level: 'warn',
      message: `The returner tested has a member '${member}', which nothing calls. Did you mean '${meant}'?`,
    },
  ])
})
