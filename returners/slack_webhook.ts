/** Posts a message for each return, or event with a return, to an incoming webhook of Slack. At least once. */
import { p, returner } from 'salt-ts'
import { httpClient, httpOptions, isSuccess, refusal } from './_http.ts'
import { attachments, succeeded } from './_slack-report.ts'

type Fields = Readonly<Record<string, unknown>>

const SLACK = 'https://hooks.slack.com/services/'

export default returner({
  options: {
    /** The part after https://hooks.slack.com/services/, or a full URL. */
    webhook: p.secret(p.string({ minLength: 1 })),
    /** Titles; `{id}` stands for that field of the return. */
    success_title: p.default(p.string(), '{id} | Succeeded'),
    failure_title: p.default(p.string(), '{id} | Failed'),
    author_icon: p.default(p.string(), ''),
    /** List the states that changed or failed. */
    show_tasks: p.default(p.boolean(), false),
    ...httpOptions,
  },
  async create({ options }) {
    if (!URL.canParse(options.webhook, SLACK))
      throw new Error('slack_webhook.webhook must be a URL or the end of one')
    const url = new URL(options.webhook, SLACK)
    const client = await httpClient(options)

    async function post(ret: Fields): Promise<void> {
      const title = filled(succeeded(ret) ? options.success_title : options.failure_title, ret)
      const look = { title, author: String(ret.id), icon: options.author_icon, showTasks: options.show_tasks }
      const payload = JSON.stringify({ attachments: attachments(ret, look) })
      const answer = await client.send({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ payload }).toString(),
      })
      if (!isSuccess(answer) || answer.text.trim() !== 'ok') throw refusal(url, answer)
    }

    return {
      idempotent: false,
      save: post,
      async saveEvents(events) {
        for (const { data } of events) if (isReturn(data)) await post(data)
      },
      close: client.close,
    }
  },
})

const filled = (title: string, ret: Fields): string =>
  title.replace(/\{(\w+)\}/g, (_, name: string) => (Object.hasOwn(ret, name) ? String(ret[name]) : ''))

const isReturn = (data: Fields): boolean =>
  typeof data.fun === 'string' && 'return' in data && data.fun !== 'saltutil.find_job'
