// Sealed calls in the page: what anyone reads of them, and what a key opens that stays in the tab.

import assert from 'node:assert/strict';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { CALL, CAPTURE, drawn, drop, openPage, rowOf, runIn, startBrowser, startServer, untilText } from './harness.mjs';

const KEY = CALL.replace(/pcap$/, 'key');
const QUESTION = 'What is 6 times 7?';

const clickUnit = async (page, unit) => {
  await page.locator(`#list .row[data-unit="${unit}"]:not([hidden])`).click();
  await drawn(page);
};
/** Names and values of the fields in sight. */
const fieldsOf = (page) =>
  page.evaluate(() => [...document.querySelectorAll('#fields .row:not([hidden])')].map((row) =>
    [row.querySelector('.name').textContent, row.querySelector('.value').textContent]));
/** Goes through all fields, as only those in sight are elements, until one has that name and value. */
const untilField = (page, name, value) => page.waitForFunction(async ([wanted, source]) => {
  const fields = document.getElementById('fields');
  for (let top = 0; top <= fields.scrollHeight; top += fields.clientHeight / 2) {
    fields.scrollTop = top;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const rows = [...fields.querySelectorAll('.row:not([hidden])')];
    if (rows.some((row) => row.querySelector('.name').textContent === wanted &&
      new RegExp(source).test(row.querySelector('.value').textContent))) {
      return true;
    }
  }
  return false;
}, [name, value.source]);

describe('a recorded sealed call', () => {
  let server;
  let browser;
  let opened;
  let page;

  before(async () => {
    server = await startServer();
    browser = await startBrowser();
    opened = await openPage(browser, server.address.replace(/#.*/, ''));
    page = opened.page;
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('is preceded by panes that say why they are empty', async () => {
    await untilText(page, '#fields-nothing', /No unit yet/);
    await untilText(page, '#bytes-nothing', /No unit yet/);
    await drop(page, CALL, 'call.pcap');
    await untilText(page, '#matches', /^2 units$/);
    await drawn(page);
    assert.ok(!(await page.locator('#fields-nothing').isVisible()));
  });

  test('is listed with what it is, its size, its caller and its request', async () => {
    const [request, reply] = [await rowOf(page, 0), await rowOf(page, 1)];
    assert.deepEqual([request.Lane, request.Type, request.Dir], ['connector', 'request', '→']);
    assert.deepEqual([reply.Lane, reply.Type, reply.Dir], ['connector', 'reply', '←']);
    assert.match(request.Size, /^1,403 B$/);
    const id = /request_id: "(call-[0-9a-f]{32})"/.exec(request.Summary)?.[1];
    assert.ok(id && reply.Summary.includes(id), `${request.Summary} / ${reply.Summary}`);
    assert.match(request.Summary, /caller_runtime_id: "caller-1"/);
    await page.locator('#filter').fill(`request=${id} and tag=reply`);
    await untilText(page, '#matches', /^1 of 2$/);
    await page.locator('#filter-clear').click();
    await untilText(page, '#matches', /^2 units$/);
  });

  test('is taken apart without a key, envelope and all, and says how to open it', async () => {
    await clickUnit(page, 0);
    await untilText(page, '#fields-note', /sealed: give a key \(k\)/);
    await untilField(page, 'operation', /invoke/);
    await untilField(page, 'caller_runtime_id', /caller-1/);
    await untilField(page, 'nonce', /[0-9a-f]{24}/);
    assert.ok(!(await page.locator('#sides').isVisible()));
    assert.ok((await fieldsOf(page)).length > 5);
  });

  test('stays closed under another key, and says so', async () => {
    await page.locator('#key').click();
    await page.locator('#key-text').fill('too short');
    await page.locator('#key-use').click();
    await untilText(page, '#key-fault', /32/);
    await page.locator('#key-text').fill('another secret, which opens nothing of this');
    await page.locator('#key-use').click();
    await untilText(page, '#fault', /Not opened: wrong key/);
    await untilField(page, 'operation', /invoke/);
  });

  test('is opened by its key, which stays in the tab', async () => {
    const before = opened.asked.length;
    await page.evaluate(() => document.getElementById('list').focus());
    await drop(page, KEY, 'caller-1.key');
    await untilText(page, '#fields-note', /opened with key [0-9a-f]{32}/);
    await untilText(page, '#state', /2 keys for seals/);
    assert.ok(!(await page.locator('#fault').isVisible()));
    await untilField(page, 'text', new RegExp(QUESTION.replace('?', '\\?')));
    await untilText(page, '#bytes-note', /under the seal/);
    await clickUnit(page, 1);
    await untilField(page, 'stop_reason', /EndTurn/);
    const secret = (await readFile(KEY, 'utf8')).trim();
    assert.ok(!(await page.content()).includes(secret.slice(0, 20)));
    assert.ok(!page.url().includes('secret'));
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
    assert.deepEqual(opened.asked.slice(before).filter((url) => !url.endsWith('/icon.svg')), []);
  });

  test('is turned from document to message and back, bytes and fields together', async () => {
    const bytes = () => page.locator('#bytes-note').textContent();
    await page.locator('#list').focus();
    const document = await bytes();
    await page.keyboard.press('d');
    await drawn(page);
    await untilField(page, 'messageId', /call-/);
    assert.notEqual(await bytes(), document);
    assert.equal(await page.locator('#side-message').getAttribute('aria-pressed'), 'true');
    await page.locator('#side-document').click();
    await untilField(page, 'schema_id', /transport_result/);
    assert.equal(await bytes(), document);
  });

  test('is closed again when the keys are forgotten', async () => {
    await page.locator('#key').click();
    await page.locator('#key-forget').click();
    await untilText(page, '#fields-note', /sealed: give a key/);
    assert.ok(!(await page.locator('#sides').isVisible()));
    assert.ok(!(await page.locator('#state').textContent()).includes('for seals'));
  });

  test('asks nothing of anybody else and complains of nothing', () => {
    const { host } = new URL(server.address);
    assert.deepEqual(opened.asked.filter((url) => new URL(url).host !== host), []);
    assert.deepEqual(opened.complaints, []);
  });
});

/** A pcap file without its record number `record`. */
function without(pcap, record) {
  let at = 24;
  for (let passed = 0; passed < record; passed += 1) {
    at += 16 + pcap.readUInt32LE(at + 8);
  }
  return Buffer.concat([pcap.subarray(0, at), pcap.subarray(at + 16 + pcap.readUInt32LE(at + 8))]);
}

test('what has no bytes or no fields says why in its pane', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'twolane-page-'));
  const server = await startServer();
  const browser = await startBrowser();
  try {
    const { page } = await openPage(browser, server.address.replace(/#.*/, ''));
    const holed = join(folder, 'holed.pcap');
    await writeFile(holed, without(await readFile(CAPTURE), 21));
    await drop(page, holed, 'holed.pcap');
    await page.locator('#filter').fill('kind=gap');
    await untilText(page, '#matches', /^1 of \d+$/);
    await page.locator('#list').focus();
    await page.keyboard.press('End');
    await untilText(page, '#fields-nothing', /not in the capture has no fields/);
    await untilText(page, '#bytes-nothing', /not in the capture/);
    await page.locator('#filter-clear').click();
    await page.locator('#list').focus();
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.getElementById('fields-nothing').hidden);
    assert.ok(!(await page.locator('#bytes-nothing').isVisible()));
  } finally {
    await browser.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test('a call of a running server shows in the live tap, sealed until its key is given', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'twolane-page-'));
  const key = join(folder, 'caller-1.key');
  const callers = join(folder, 'callers.toml');
  await copyFile(KEY, key);
  await chmod(key, 0o600);
  await writeFile(callers, '[[caller]]\nid = "caller-1"\nkey_files = ["caller-1.key"]\n');
  const data = join(folder, 'data');
  const server = await startServer('--connector', '127.0.0.1:0', '--callers', callers, '--data-dir', data);
  const browser = await startBrowser();
  try {
    const { page } = await openPage(browser, server.address);
    await untilText(page, '#state', /watching/);
    const { connector } = JSON.parse(await readFile(join(server.runDir, 'ports.json'), 'utf8'));
    const asked = ['--caller', 'caller-1', '--key-file', key, '--model', 'model-a', QUESTION];
    const called = await runIn({ XDG_STATE_HOME: folder }, 'call', '--connector', connector, ...asked);
    assert.deepEqual(called, { code: 0, out: `${QUESTION}\n` });
    await untilText(page, '#matches', /^2 units$/);
    await drawn(page);
    assert.deepEqual([(await rowOf(page, 0)).Type, (await rowOf(page, 1)).Type], ['request', 'reply']);
    await clickUnit(page, 0);
    await untilText(page, '#fields-note', /sealed: give a key/);
    await drop(page, KEY, 'caller-1.key');
    await untilField(page, 'text', /What is 6 times 7/);
  } finally {
    await browser.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
