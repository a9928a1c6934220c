import { p } from 'salt-ts'

const ignored = p.optional(p.any({ description: 'Has no effect, as in Salt.' }))
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)

/** Parameters of a request, after its URL. */
export const queryParams = {
  method: p.default(p.string({ pattern: '^[A-Za-z]+$' }), 'GET'),
  params: p.optional(p.union(p.record(p.any()), p.string())),
  data: p.optional(p.any()),
  header_dict: p.secret(p.optional(p.record(p.string()))),
  header_list: p.secret(p.optional(p.array(p.string()))),
  username: p.optional(p.string()),
  password: p.secret(p.optional(p.string())),
  // A number changes nothing, as in Salt: the 200 of those who know http.query as a state.
  status: p.default(p.union(p.boolean(), p.integer()), false),
  headers: flag(false),
  text: flag(false),
  decode: flag(false),
  decode_body: p.default(p.boolean({ description: 'With false, the body is bytes.' }), true),
  decode_type: p.default(p.string({ description: 'auto, json, xml, yaml or plain.' }), 'auto'),
  timeout: p.default(p.number({ exclusiveMinimum: 0, maximum: 3600 }), 30),
  max_body: p.default(p.integer({ minimum: 0 }), 10_485_760),
  raise_error: p.default(
    p.boolean({
      description: 'With false, the body is null if no server answers, and errors of the server are answers.',
    }),
    true,
  ),
  agent: p.optional(p.string({ description: 'The header User-Agent.' })),
  verify_ssl: p.default(
    p.boolean({ description: 'With false, the certificate of the server is not checked.' }),
    true,
  ),
  backend: p.optional(
    p.string({ description: 'With requests, errors of the server fail, and formdata has an effect.' }),
  ),
  formdata: p.default(p.boolean({ description: 'Send data as a file in a form.' }), false),
  formdata_fieldname: p.optional(p.string()),
  formdata_filename: p.optional(p.string()),
  test: p.default(p.boolean({ description: 'Send nothing, or a request to test_url.' }), false),
  test_url: p.optional(p.string()),
  cookies: ignored,
  cookie_jar: ignored,
  cookie_format: ignored,
  hide_fields: ignored,
  node: ignored,
  port: ignored,
  opts: ignored,
}

/** Parameters for files of the host. Only minions have them: on a master they would give more than the right to send requests. */
export const fileParams = {
  data_file: p.optional(p.string({ description: 'A file to send instead of data.' })),
  header_file: p.optional(p.string({ description: 'A file with a header in each line.' })),
  data_render: p.default(p.boolean({ description: 'Render data_file as a template.' }), false),
  data_renderer: p.optional(p.string()),
  header_render: p.default(p.boolean({ description: 'Render header_file as a template.' }), false),
  header_renderer: p.optional(p.string()),
  text_out: p.optional(p.string({ description: 'A file for the text of the answer.' })),
  headers_out: p.optional(p.string({ description: 'A file for the headers of the answer, if it exists.' })),
  decode_out: p.optional(p.string({ description: 'A file for the text that was decoded.' })),
  ca_bundle: p.optional(p.string({ description: 'A file of certificates of authorities.' })),
  cert: p.optional(p.union(p.string(), p.array(p.string()))),
  persist_session: p.default(p.boolean({ description: 'Send the cookies of the last answer.' }), false),
  session_cookie_jar: p.optional(p.string()),
}
