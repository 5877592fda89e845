import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { join } from 'node:path';

/** Servers that no program should reach. */
export class Listeners {
  readonly #hits = new Set<string>();
  readonly #servers: Server[] = [];
  #udp: Socket | undefined;
  tcpPort = 0;
  udpPort = 0;
  freePort = 0;

  private constructor(
    readonly unixSocket: string,
    readonly abstractSocket: string,
  ) {}

  static async open(folder: string, marker: string): Promise<Listeners> {
    const listeners = new Listeners(join(folder, 'service.sock'), `${marker}-abstract`);
    await listeners.#open();
    return listeners;
  }

  /** Reports the servers that were reached since the last call. */
  takeHits(): readonly string[] {
    const hits = [...this.#hits].map((name) => `reached the ${name} listener`);
    this.#hits.clear();
    return hits;
  }

  async close(): Promise<void> {
    this.#udp?.close();
    await Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))));
  }

  async #open(): Promise<void> {
    const tcp = await this.#listen('TCP', { port: 0, host: '127.0.0.1' });
    this.tcpPort = (tcp.address() as AddressInfo).port;
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    this.freePort = (free.address() as AddressInfo).port;
    free.close();
    await once(free, 'close');
    if (process.platform === 'win32') return;
    await this.#listen('unix socket', { path: this.unixSocket });
    chmodSync(this.unixSocket, 0o777);
    if (process.platform === 'linux') {
      await this.#listen('abstract socket', { path: `\0${this.abstractSocket}` });
    }
    this.#udp = createSocket('udp4', () => this.#hits.add('UDP'));
    this.#udp.bind(0, '127.0.0.1');
    await once(this.#udp, 'listening');
    this.udpPort = this.#udp.address().port;
  }

  async #listen(name: string, where: ListenOptions): Promise<Server> {
    const server = createServer((socket) => {
      this.#hits.add(name);
      socket.on('error', () => undefined).end('HTTP/1.0 200 OK\r\n\r\nx', () => socket.destroy());
    });
    this.#servers.push(server);
    server.listen(where);
    await once(server, 'listening');
    return server;
  }
}
