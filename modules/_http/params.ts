import { p } from 'salt-ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)

/** Parameters of a request, after its URL. */
export const queryParams = {
  method: p.default(p.enum(...METHODS), 'GET'),
  params: p.optional(p.union(p.record(p.any()), p.string())),
  data: p.optional(p.any()),
  header_dict: p.secret(p.optional(p.record(p.string()))),
  header_list: p.secret(p.optional(p.array(p.string()))),
  username: p.optional(p.string()),
  password: p.secret(p.optional(p.string())),
  status: flag(false),
  headers: flag(false),
  text: flag(false),
  decode: flag(false),
  decode_type: p.default(p.string({ description: 'auto, json, yaml or plain.' }), 'auto'),
  timeout: p.default(p.number({ exclusiveMinimum: 0, maximum: 3600 }), 30),
  max_body: p.default(p.integer({ minimum: 0 }), 10_485_760),
  raise_error: p.default(
    p.boolean({
      description: 'With false, the body is null if no server answers, and errors of the server are answers.',
    }),
    true,
  ),
  agent: p.optional(p.string({ description: 'The header User-Agent.' })),
  verify_ssl: p.default(p.boolean({ description: 'False is refused for https.' }), true),
  backend: p.optional(p.string({ description: 'Has no effect.' })),
}

/** Parameters for files of the host. Only minions have them: on a master they would give more than the right to send requests. */
export const fileParams = {
  data_file: p.optional(p.string({ description: 'A file to send instead of data.' })),
  header_file: p.optional(p.string({ description: 'A file with a header in each line.' })),
  text_out: p.optional(p.string({ description: 'A file for the text of the answer.' })),
  decode_out: p.optional(p.string({ description: 'A file for the text that was decoded.' })),
}
