// The live tap: a WebSocket that brings a pcapng file as it is being written.

import { waitMs } from './backoff.ts';

export type TapState =
  | { is: 'connecting' }
  | { is: 'watching' }
  /** The tap broke; `reason` is the server's word for it, '' where it left none. */
  | { is: 'waiting'; reason: string; attempt: number; retryAt: number }
  | { is: 'stopped' };

export class Tap {
  private socket: WebSocket | null = null;
  private timer = 0;
  private attempt = 0;
  private isOn = false;

  constructor(
    private readonly onBytes: (bytes: Uint8Array) => void,
    private readonly onState: (state: TapState) => void,
  ) {}

  start(): void {
    this.isOn = true;
    this.attempt = 0;
    this.connect();
  }

  /** Tries again now instead of at the end of the wait. */
  retry(): void {
    if (this.isOn && this.socket === null) {
      clearTimeout(this.timer);
      this.connect();
    }
  }

  stop(): void {
    this.isOn = false;
    clearTimeout(this.timer);
    this.socket?.close(1000);
    this.socket = null;
    this.onState({ is: 'stopped' });
  }

  private connect(): void {
    this.onState({ is: 'connecting' });
    const address = new URL('/api/tap', location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    address.hash = '';
    const socket = new WebSocket(address);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.addEventListener('open', () => {
      if (this.socket === socket) {
        this.attempt = 0;
        this.onState({ is: 'watching' });
      }
    });
    socket.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (this.socket === socket && event.data instanceof ArrayBuffer) {
        this.onBytes(new Uint8Array(event.data));
      }
    });
    socket.addEventListener('close', (event) => {
      if (this.socket === socket) {
        this.socket = null;
        this.wait(event.reason);
      }
    });
  }

  private wait(reason: string): void {
    const wait = waitMs(this.attempt);
    this.attempt += 1;
    this.onState({ is: 'waiting', reason, attempt: this.attempt, retryAt: Date.now() + wait });
    this.timer = window.setTimeout(() => this.connect(), wait);
  }
}
