interface KeepAliveOptions {
  readonly tcp_keepalive: boolean
  readonly tcp_keepalive_idle: number
  readonly tcp_keepalive_cnt: number
  readonly tcp_keepalive_intvl: number
}

/** The `tcp_keepalive…` options, as a transport takes them; false: everything as the system has it. */
export function keepAliveOf(config: KeepAliveOptions) {
  const { tcp_keepalive_idle: idle, tcp_keepalive_cnt: count, tcp_keepalive_intvl: interval } = config
  return config.tcp_keepalive && { idle, count, interval }
}
