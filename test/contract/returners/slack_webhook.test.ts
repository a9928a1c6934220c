import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { type HttpServer, httpServer } from '../../harness/http-server.ts'
import { returnerWith } from '../../harness/returner.ts'
import { returnerContract } from '../returner.ts'

/** As Slack answers, which is in words. */
async function slack() {
  const messages: { readonly attachments: readonly Readonly<Record<string, unknown>>[] }[] = []
  const server = await httpServer(({ path, body }) => {
    if (path !== '/T0/B0/secret') return { status: 403, text: 'invalid_token' }
    messages.push(JSON.parse(new URLSearchParams(body).get('payload') ?? ''))
    return { text: 'ok' }
  })
  return { ...server, webhook: `${server.url}T0/B0/secret`, messages }
}

await returnerContract({
  name: 'slack_webhook',
  wrongCredentials: (config) => ({ slack_webhook: { webhook: `${config['slack_webhook.webhook']}x` } }),
  async prepare() {
    const { webhook, messages, close } = await slack()
    return {
      config: { 'slack_webhook.webhook': webhook },
      rows: async (jid) => messages.filter(({ attachments: [head] }) => String(head?.text).includes(jid)),
      drop: close,
    }
  },
})

describe('slack_webhook, with a local receiver in the place of Slack', () => {
  let server: Awaited<ReturnType<typeof slack>>
  let broken: HttpServer
  let returner: Returner
  const options = { author_icon: 'icon', failure_title: '{id} | Failed' }
  beforeAll(async () => {
    server = await slack()
    broken = await httpServer(({ path }) => ({ status: path === '/400' ? 400 : 500, text: 'no_text' }))
    returner = await returnerWith('slack_webhook', {
      slack_webhook: { ...options, webhook: server.webhook, show_tasks: true },
    })
  })
  afterAll(async () => {
    await returner.close?.()
    await server.close()
    await broken.close()
  })

  const ret = {
    jid: '20300101000000000000',
    id: 'web1',
    fun: 'cmd.run',
    fun_args: [],
    return: 'done' as unknown,
    retcode: 0,
    success: true,
  }
  const head = {
    color: '#272727',
    author_name: 'web1',
    author_link: '',
    author_icon: 'icon',
  }
  const sent = async (changes: object) => {
    await returner.save({ ...ret, ...changes })
    return server.messages.at(-1)?.attachments
  }

  test('shows the result of a function as Salt does', async () => {
    expect(await sent({})).toEqual([
      {
        ...head,
        fallback: 'web1 | Succeeded',
        title: 'Success: True',
        text: 'Function: cmd.run\nJID: 20300101000000000000\n',
      },
      { color: 'good', title: 'Return: done' },
    ])
  })

  test('counts and names states as Salt does', async () => {
    const states = {
      'file_|-motd_|-/etc/motd_|-managed': {
        __id__: 'motd',
        __sls__: 'base.motd',
        __run_num__: 1,
        result: true,
        changes: { diff: '+a' },
        duration: 1500.5,
      },
      'pkg_|-vim_|-vim_|-installed': {
        __id__: 'vim',
        __sls__: 'base.vim',
        __run_num__: 0,
        result: false,
        changes: {},
        duration: 500,
      },
      'pkg_|-git_|-git_|-installed': {
        __id__: 'git',
        __sls__: 'base.git',
        __run_num__: 2,
        result: true,
        changes: {},
        duration: 12,
      },
    }
    expect(await sent({ fun: 'state.apply', fun_args: ['base'], return: states, retcode: 2 })).toEqual([
      {
        ...head,
        fallback: 'web1 | Failed',
        title: 'Success: False',
        text: [
          'Function: state.apply',
          'Function Args: ["base"]',
          'JID: 20300101000000000000',
          'Total: 3',
          'Duration: 2.01 secs',
        ].join('\n'),
      },
      { color: 'good', title: 'Unchanged: 1' },
      { color: 'warning', title: 'Changed: 1', fields: [{ value: 'base.motd.sls | motd', short: false }] },
      { color: 'danger', title: 'Failed: 1', fields: [{ value: 'base.vim.sls | vim', short: false }] },
    ])
  })

  test('truncates long texts', async () => {
    const [, body] = (await sent({ return: 'x'.repeat(1_000_000) })) ?? []
    expect(String(body?.title)).toMatch(/^Return: x{8000}…$/)
  })

  test('posts events of returns, and no others', async () => {
    const before = server.messages.length
    await returner.saveEvents?.(
      [
        { tag: 'salt/auth', data: { id: 'web1', act: 'accept' } },
        { tag: 'salt/job/1/ret/web1', data: { ...ret, fun: 'saltutil.find_job' } },
        { tag: 'salt/job/2/ret/web1', data: ret },
      ],
      '1',
    )
    expect(server.messages).toHaveLength(before + 1)
  })

  test('distinguishes a wrong message from a service that is down, and never shows the webhook', async () => {
    const refused = async (path: string) => {
      const one = await returnerWith('slack_webhook', { 'slack_webhook.webhook': `${broken.url}${path}` })
      return one.save(ret).then(
        () => undefined,
        (error: Error & { code?: string }) => error,
      )
    }
    const wrong = await refused('400')
    expect(wrong).toMatchObject({
      code: 'UNSAVABLE',
      message: `127.0.0.1:${broken.port} answered 400: no_text`,
    })
    const down = await refused('secret')
    expect(down?.message).toBe(`127.0.0.1:${broken.port} answered 500: no_text`)
    expect(down).not.toHaveProperty('code')
  })
})
