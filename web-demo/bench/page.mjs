// What the page promises about a large capture, measured in a real browser: `cargo xtask bench page`.

import { createServer } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openPage, startBrowser, untilText } from '../test/harness.mjs';
import { indexRounds } from './index.mjs';
import { scroll } from './scroll.mjs';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const FRAMES = process.env.TWOLANE_FRAMES;
const ROUNDS = Number(process.argv[2] ?? 5);

/** Of the specification's promises. */
const SPEED_MIN = 10;
const WORK_P95_MS_MAX = 8;
const LATE_SHARE_MAX = 0.05;

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.svg': 'image/svg+xml' };

/** The built page and the capture, from one origin. */
async function serve() {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === '/frames') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      createReadStream(FRAMES).pipe(response);
      return;
    }
    try {
      const path = join(DIST, pathname === '/' ? 'index.html' : pathname);
      const content = await readFile(path);
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

function median(figures) {
  return [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)];
}

function verdict(kept) {
  return kept ? 'kept' : 'NOT KEPT';
}

async function benchIndex(browser, address) {
  const { page, context } = await openPage(browser, address);
  const { rounds, frames, bytes } = await page.evaluate(indexRounds, ROUNDS);
  await context.close();
  const ours = median(rounds.map((round) => round.ours));
  const rival = median(rounds.map((round) => round.rival));
  const kept = rival / ours >= SPEED_MIN;
  console.log(`${frames.toLocaleString('en')} frames, ${(bytes / 1e6).toFixed(0)} MB; medians of ${rounds.length} interleaved rounds in one page`);
  console.log(`  copy into wasm, index, type of every body   ${ours.toFixed(0)} ms, ${(bytes / ours / 1e3).toFixed(0)} MB/s`);
  console.log(`  TextDecoder and JSON.parse of every body    ${rival.toFixed(0)} ms, ${(bytes / rival / 1e3).toFixed(0)} MB/s`);
  console.log(`  ${(rival / ours).toFixed(1)} times as fast, promised: ${SPEED_MIN}   ${verdict(kept)}`);
  return kept;
}

async function benchScroll(browser, address) {
  const { page, context } = await openPage(browser, address);
  await page.setInputFiles('#file', FRAMES);
  const began = performance.now();
  await untilText(page, '#matches', /1,000,000/);
  await page.waitForFunction(() => document.querySelector('#progress')?.hidden === true);
  const read = performance.now() - began;
  const { work, intervals, jumps, last } = await scroll(page, await context.newCDPSession(page));
  await context.close();
  const at = (figures, share) => [...figures].sort((a, b) => a - b)[Math.floor(figures.length * share)] ?? NaN;
  const late = intervals.filter((interval) => interval > 34).length / intervals.length;
  const isQuick = at(work, 0.95) <= WORK_P95_MS_MAX;
  const isSmooth = late <= LATE_SHARE_MAX;
  console.log(`the list opened in ${(read / 1e3).toFixed(1)} s, then scrolled by ${jumps} turns of a wheel from its first row to row ${last.toLocaleString('en')}`);
  console.log(`  main thread's work in a frame that scrolled   p50 ${at(work, 0.5).toFixed(1)} ms, p95 ${at(work, 0.95).toFixed(1)} ms, of ${work.length} frames; promised: p95 ${WORK_P95_MS_MAX} ms   ${verdict(isQuick)}`);
  console.log(`  intervals between frames over 34 ms           ${(late * 100).toFixed(1)} % of ${intervals.length}, promised: ${LATE_SHARE_MAX * 100} %   ${verdict(isSmooth)}`);
  return isQuick && isSmooth;
}

const served = await serve();
const browser = await startBrowser();
try {
  await stat(FRAMES);
  const kept = [await benchIndex(browser, served.address), await benchScroll(browser, served.address)];
  process.exitCode = kept.every(Boolean) ? 0 : 1;
} finally {
  await browser.close();
  served.close();
}
