/** What the metadata server of a cloud knows about the machine; off by default. */
import type { Searches, Source } from '../_facts/gather.ts'

const cloud: Source = (_, { opts }): Searches => {
  if (opts.metadata_server_grains !== true) return {}
  return {
    'the machine in EC2': async () => (await import('../_metadata/ec2.ts')).ec2(),
    'the machine in Azure': async () => (await import('../_metadata/others.ts')).azure(),
    'the machine in the cloud of Google': async () => (await import('../_metadata/others.ts')).gce(),
  }
}
export default cloud
