// The live tap: the door, rows as they come, and what the page says when it is shut out.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { join } from 'node:path';

import { openPage, run, startBrowser, startServer, untilText } from './harness.mjs';

describe('the live tap', () => {
  let server;
  let browser;
  let opened;

  before(async () => {
    server = await startServer();
    browser = await startBrowser();
    opened = await openPage(browser, server.address);
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('opens with the printed address, whose code leaves it at once', async () => {
    const { page } = opened;
    await untilText(page, '#state', /watching/);
    assert.ok(!page.url().includes('code='));
    assert.equal(await page.evaluate(() => document.cookie), '', 'no script can read the cookie');
  });

  test('shows frames while a run plays', async () => {
    const { page } = opened;
    await untilText(page, '#empty', /Waiting for traffic/);
    const attached = run('attach', '--connection-file', join(server.runDir, 'providers.json'), '--count', '40');
    await page.waitForFunction(() => document.querySelectorAll('#list .track .row:not([hidden])').length > 3);
    await attached;
    await page.waitForFunction(() => {
      const words = new Set([...document.querySelectorAll('#list .sort')].map((cell) => cell.textContent));
      return words.has('control') || words.has('display');
    });
  });

  test('refuses a code that was used, and says what to do', async () => {
    const again = await openPage(browser, server.address);
    await untilText(again.page, '#empty', /twolane open-page/);
    await again.context.close();
  });

  test('lets nobody in without a code', async () => {
    const bare = await openPage(browser, server.address.replace(/#.*/, ''));
    await untilText(bare.page, '#empty', /twolane open-page/);
    await bare.page.keyboard.press('l');
    await untilText(bare.page, '#empty', /The live tap is shut/);
    assert.deepEqual(bare.asked.filter((url) => url.startsWith('ws')), []);
    await bare.context.close();
  });

  test('asks nothing of anybody else and complains of nothing', () => {
    const { host } = new URL(server.address);
    assert.deepEqual(opened.asked.filter((url) => new URL(url).host !== host), []);
    assert.deepEqual(opened.complaints, []);
  });
});

test('a tap that breaks is tried again, and the page says so', async () => {
  const server = await startServer();
  const browser = await startBrowser();
  try {
    const { page } = await openPage(browser, server.address);
    await untilText(page, '#state', /watching/);
    await server.stop();
    await untilText(page, '#state', /attempt \d+ in \d+ s/);
    assert.ok(await page.locator('#retry').isVisible());
    await page.locator('#live').click();
    await untilText(page, '#live', /^Live tap$/);
    assert.ok(!(await page.locator('#retry').isVisible()));
  } finally {
    await browser.close();
  }
});
