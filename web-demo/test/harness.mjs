// A real server, a real browser, and the record of what the page asked for.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

/** How long anything here may take: a slow machine is no fault. */
export const PATIENCE_MS = 60_000;

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const CAPTURE = join(ROOT, 'fixtures/captures/peer-v1-loopback.pcap');
/** A recorded sealed call; beside it its key, `.key`. */
export const CALL = join(ROOT, 'fixtures/captures/call-v3-loopback.pcap');

const CHROMIUM_FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

/** The built binary that the tests run against. */
export function binary() {
  const path = process.env.TWOLANE_BIN;
  if (!path) {
    throw new Error('TWOLANE_BIN must name the built twolane binary; `cargo xtask test --only browser` sets it');
  }
  return path;
}

/** Starts `twolane serve`; gives the page's address that it prints, its run directory, and `stop`. */
export async function startServer(...more) {
  const home = await mkdtemp(join(tmpdir(), 'twolane-page-'));
  const runDir = join(home, 'run');
  const child = spawn(
    binary(),
    ['serve', '--run-dir', runDir, '--providers', '127.0.0.1:0', '--http', '127.0.0.1:0', ...more],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, XDG_CONFIG_HOME: home } },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let said = '';
  const address = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no address within the time; the server said:\n${said}`)), PATIENCE_MS);
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => {
      said += text;
      const found = /http:\/\/\S+#code=\S+/.exec(said);
      if (found) {
        clearTimeout(timer);
        resolve(found[0]);
      }
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}; it said:\n${said}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  return { address, runDir, stop };
}

/** Runs one command of the binary to its end; gives what it printed. */
export function run(...args) {
  return runIn({}, ...args);
}

/** The same with these variables in its environment. */
export async function runIn(environment, ...args) {
  const child = spawn(binary(), args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } });
  let out = '';
  child.stdout.on('data', (data) => { out += data; });
  child.stderr.on('data', (data) => { out += data; });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  return { code, out };
}

/** The system's Chromium. */
export function startBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_FLAGS });
}

/** A page of its own, with everything that it asked for or complained about. */
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const asked = [];
  const complaints = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('websocket', (socket) => asked.push(socket.url()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(message.text());
    }
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`));
  });
  await page.goto(address);
  await page.waitForFunction(() => document.activeElement?.id === 'list');
  return { page, context, asked, complaints };
}

/** Opens a file by dropping it on the page. */
export async function drop(page, path, name) {
  const base64 = (await readFile(path)).toString('base64');
  await page.evaluate(([content, fileName]) => {
    const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], fileName));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
    }
  }, [base64, name]);
}

/** Waits until an element's text matches. */
export async function untilText(page, selector, pattern) {
  await page.waitForFunction(
    ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ''),
    [selector, pattern.source],
  );
}

/** Two drawn frames: what was asked for in one is on the screen in the next. */
export function drawn(page) {
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** The cells of the list's row of that unit, by what their columns are called. */
export async function rowOf(page, unit) {
  return page.evaluate((wanted) => {
    const heads = [...document.querySelectorAll('#list-head > *')].map((cell) => cell.textContent);
    const row = document.querySelector(`#list .row[data-unit="${wanted}"]:not([hidden])`);
    return row && Object.fromEntries([...row.children].map((cell, at) => [heads[at], cell.textContent]));
  }, unit);
}
