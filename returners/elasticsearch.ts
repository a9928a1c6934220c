/**
 * Keeps returns, jobs and events as documents of Elasticsearch or OpenSearch, in Salt's form. The id of a document is derived from
 * job id and minion, so that a rewrite replaces it. Each document also has the whole record as JSON, because an index may refuse
 * Salt's field: where one minion returned a text, it accepts no map from another.
 */
import { fromRecordJson, type LoadRecord, p, type ReturnRecord, returner, UnsavableError } from 'salt-ts'
import { type Body, elasticClient } from './_elastic-client.ts'
import { type Document, eventDocument, jobDocument, returnDocument } from './_elastic-document.ts'
import type { Fields } from './_fields.ts'
import { httpOptions } from './_http.ts'
import { firstJobs } from './_jobs.ts'

interface Item {
  readonly index: {
    readonly status: number
    readonly error?: { readonly type: string; readonly reason: string }
  }
}
interface Hit {
  readonly _source: Fields
  readonly sort: readonly unknown[]
}

const PAGE = 500
const STORED = { type: 'keyword', index: false, doc_values: false }
const MAPPINGS = { properties: { full_ret: STORED, full_load: STORED, full_data: STORED } }

export default returner({
  options: {
    hosts: p.default(p.array(p.string({ minLength: 1 }), { minItems: 1 }), ['localhost:9200']),
    user: p.optional(p.string()),
    password: p.optional(p.secret(p.string())),
    api_key: p.optional(p.secret(p.string())),
    functions_blacklist: p.default(p.array(p.string()), []),
    index_date: p.default(p.boolean(), false),
    master_event_index: p.default(p.string({ minLength: 1 }), 'salt-master-event-cache'),
    master_job_cache_index: p.default(p.string({ minLength: 1 }), 'salt-master-job-cache'),
    number_of_shards: p.default(p.integer({ minimum: 1 }), 1),
    number_of_replicas: p.default(p.integer({ minimum: 0 }), 0),
    states_count: p.default(p.boolean(), false),
    states_order_output: p.default(p.boolean(), false),
    states_single_index: p.default(p.boolean(), false),
    ...httpOptions,
  },
  async create({ options }) {
    const elastic = await elasticClient(options)
    const { master_event_index: events, master_job_cache_index: jobs } = options
    const returns = encodeURIComponent(`salt-*,-${events}*,-${jobs}*`)
    const ready = new Set<string>()

    /** Create the index `<name>-v1` with the alias `<name>`. */
    async function makeIndex(name: string): Promise<void> {
      if (ready.has(name)) return
      if (!(await elastic.ask('HEAD', `/${encodeURIComponent(name)}`))) {
        const { number_of_shards, number_of_replicas } = options
        await elastic
          .ask('PUT', `/${encodeURIComponent(`${name}-v1`)}`, {
            settings: { number_of_shards, number_of_replicas },
            mappings: MAPPINGS,
            aliases: { [name]: {} },
          })
          .catch((error: Error) => {
            if (!error.message.includes('resource_already_exists_exception')) throw error
          })
      }
      ready.add(name)
    }

    async function bulk(documents: readonly Document[], fieldsOf: (document: Document) => Body) {
      const lines = documents.flatMap((document) => [
        { index: { _index: document.index, _id: document.id } },
        fieldsOf(document),
      ])
      const answer = await elastic.ask('POST', '/_bulk', lines)
      const items = (answer?.items ?? []) as readonly Item[]
      return documents.flatMap((document, index) => {
        const error = items[index]?.index.error
        return error ? [{ document, error, status: items[index]?.index.status }] : []
      })
    }

    async function write(documents: readonly Document[]): Promise<void> {
      if (documents.length === 0) return
      for (const name of new Set(documents.map(({ index }) => index))) await makeIndex(name)
      const refused = await bulk(documents, ({ fields, shown }) => ({ ...fields, ...shown }))
      const again = refused.filter(({ status }) => status === 400).map(({ document }) => document)
      const failed = refused.filter(({ status }) => status !== 400)
      if (again.length > 0) failed.push(...(await bulk(again, ({ fields }) => fields)))
      const [first] = failed
      if (!first) return
      const message = `Elasticsearch refused ${first.document.index}/${first.document.id}: ${first.error.reason}`
      throw failed.every(({ status }) => status === 400) ? new UnsavableError(message) : new Error(message)
    }

    const isWanted = ({ fun }: ReturnRecord) => !options.functions_blacklist.includes(String(fun))

    /** Yield the matching documents, sorted by a field whose values are unique among them. */
    async function* found(
      index: string,
      query: Body,
      by: string,
      order: 'asc' | 'desc',
    ): AsyncGenerator<Fields> {
      await elastic.ask('POST', `/${index}/_refresh?ignore_unavailable=true`)
      let after: Body = {}
      for (;;) {
        const answer = await elastic.ask('POST', `/${index}/_search?ignore_unavailable=true`, {
          size: PAGE,
          query,
          sort: [{ [`${by}.keyword`]: { order, unmapped_type: 'keyword' } }],
          ...after,
        })
        const hits = ((answer?.hits as Body | undefined)?.hits ?? []) as readonly Hit[]
        for (const { _source } of hits) yield _source
        if (hits.length < PAGE) return
        after = { search_after: hits.at(-1)?.sort }
      }
    }
    const isOf = (jid: string) => ({ bool: { filter: [{ term: { 'jid.keyword': jid } }] } })

    async function* getJids(): AsyncGenerator<LoadRecord> {
      for await (const job of found(encodeURIComponent(jobs), { match_all: {} }, 'jid', 'desc'))
        yield loadOf(job)
    }

    async function forget(query: Body): Promise<void> {
      for (const index of [returns, encodeURIComponent(jobs)])
        await elastic.ask(
          'POST',
          `/${index}/_delete_by_query?refresh=true&conflicts=proceed&ignore_unavailable=true`,
          {
            query,
          },
        )
    }

    return {
      save: (ret) => write([ret].filter(isWanted).map((one) => returnDocument(one, options))),
      saveBatch: (rets) => write(rets.filter(isWanted).map((ret) => returnDocument(ret, options))),
      saveLoad: (job) => write([jobDocument(job, options)]),
      saveEvents: (records, batch) =>
        write(records.map((event, index) => eventDocument(event, `${batch} ${index}`, options))),
      async getLoad(jid) {
        const answer = await elastic.ask(
          'GET',
          `/${encodeURIComponent(jobs)}/_doc/${encodeURIComponent(jid)}`,
        )
        return answer && loadOf(answer._source as Fields)
      },
      async getJid(jid) {
        const byId = new Map<unknown, ReturnRecord>()
        for await (const document of found(returns, isOf(jid), 'minion', 'asc'))
          byId.set(document.minion, returnOf(document))
        return [...byId.values()]
      },
      getJids,
      getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
      cleanOldJobs: (before) => forget({ range: { '@timestamp': { lt: before.toISOString() } } }),
      remove: (jid) => forget(isOf(jid)),
      close: elastic.close,
    }
  },
})

/** Restore a job or a return. Documents written by Python have no whole record. */
const loadOf = ({ jid, load, full_load }: Fields): LoadRecord =>
  typeof full_load === 'string'
    ? (fromRecordJson(full_load) as LoadRecord)
    : { jid: String(jid), load: load as Fields, minions: [] }

const returnOf = ({ full_ret, jid, minion, fun, data, retcode, success }: Fields): ReturnRecord =>
  typeof full_ret === 'string'
    ? (fromRecordJson(full_ret) as ReturnRecord)
    : {
        jid: String(jid),
        id: String(minion),
        fun: String(fun),
        fun_args: [],
        return: data,
        retcode: Number(retcode),
        success: success === true,
      }
